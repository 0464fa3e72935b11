// MediaTransport
