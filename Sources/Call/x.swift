// Call
