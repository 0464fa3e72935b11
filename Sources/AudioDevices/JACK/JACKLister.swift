// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Keeps a registry up to date with the clients of a JACK server. Its own client gets notifications of changes; a separate thread
/// then lists the devices, since libjack's notification thread must not call libjack.
final class JACKLister: Sendable {
    /// The milliseconds between tries to reach a server.
    private static let retryMilliseconds = 250

    private let serverName: String?
    private let clientName: String
    private let registry: AudioDeviceRegistry
    private let wakeup = Wakeup()  // signalled even while the thread is awake, since notifications are rare
    private let client = Mutex<JACKClient?>(nil)  // held while the server is asked
    private let error = Mutex<AudioDeviceError?>(nil)
    private let thread = Mutex<ServiceThread?>(nil)

    init(serverName: String?, clientName: String, registry: AudioDeviceRegistry) {
        self.serverName = serverName
        self.clientName = clientName
        self.registry = registry
    }

    /// The reason that there is no list of devices; nil if there is one.
    var failure: AudioDeviceError? { error.withLock { $0 } }

    /// Lists the devices for the first time, and starts the thread.
    func start() {
        refresh()
        // The thread lists the devices whenever it is woken, and every 250 ms while there is a failure. The first list exists
        // already.
        let isFirst = Atomic(true)
        let new = ServiceThread(name: "jack-devices", wakeup: wakeup) { [weak self] in
            guard let self else { return nil }
            if !isFirst.exchange(false, ordering: .relaxed) { refresh() }
            return failure == nil ? .untilWoken : .milliseconds(Self.retryMilliseconds)
        }
        let code = new.start()
        guard code == 0 else { return error.withLock { $0 = .noThread(code: Int(code)) } }
        thread.withLock { $0 = new }
    }

    /// Ends the thread and the client.
    func stop() {
        thread.withLock { $0.take() }?.stop()
        client.withLock { client in
            if let open = client { JACKProcess.close(open) }
            client = nil
        }
    }

    /// Lists the devices now. Any thread except libjack's.
    func refresh() {
        client.withLock { client in
            if let open = client, open.end.error != nil {
                client = nil
                JACKProcess.close(open)
                fail(open.end.error)
            }
            do throws(AudioDeviceError) {
                if client == nil { client = try open() }
                if let client { try list(client) }
            } catch {
                fail(error)
            }
        }
    }

    private func fail(_ error: AudioDeviceError?) {
        let isNew = self.error.withLock { known in
            defer { known = error }
            return known == nil && error != nil
        }
        registry.replace(with: [])
        // The thread must be woken to try again: before the failure it waited for notifications without a timeout.
        if isNew { earshot_wake(wakeup.fileDescriptor) }
    }

    private func list(_ client: JACKClient) throws(AudioDeviceError) {
        let devices = try client.with {
            JACKSystem.devices(
                JACKPort.list($0), sampleRate: Double(jack_get_sample_rate($0)),
                blockFrameCount: Int(jack_get_buffer_size($0)), without: JACKProcess.clientNames)
        }
        guard let devices, client.end.error == nil else { throw client.end.error ?? .serverGone(.jack, reason: "") }
        registry.replace(with: devices)
        error.withLock { $0 = nil }
    }

    private func open() throws(AudioDeviceError) -> JACKClient {
        let descriptor = wakeup.fileDescriptor
        let client = try JACKProcess.open(clientName, serverName, waking: wakeup)
        let activationCode = try client.with { pointer in
            let argument = UnsafeMutableRawPointer(bitPattern: Int(descriptor))
            jack_set_client_registration_callback(pointer, jackClientChange, argument)
            jack_set_port_registration_callback(pointer, jackPortChange, argument)
            jack_set_port_rename_callback(pointer, jackPortNameChange, argument)
            jack_set_graph_order_callback(pointer, jackGraphChange, argument)
            jack_set_buffer_size_callback(pointer, jackFormatChange, argument)
            jack_set_sample_rate_callback(pointer, jackFormatChange, argument)
            return jack_activate(pointer)
        }
        guard activationCode == 0 else {
            JACKProcess.close(client)
            throw .callFailed(.jack, call: "jack_activate", code: Int(activationCode ?? -1))
        }
        return client
    }
}

// The functions below handle libjack's notifications on libjack's thread; their argument is the descriptor that wakes the lister.

private func wake(_ argument: UnsafeMutableRawPointer?) {
    earshot_wake(CInt(truncatingIfNeeded: Int(bitPattern: argument)))
}

private func jackClientChange(_: UnsafePointer<CChar>?, _: CInt, _ argument: UnsafeMutableRawPointer?) {
    wake(argument)
}

private func jackPortChange(_: jack_port_id_t, _: CInt, _ argument: UnsafeMutableRawPointer?) { wake(argument) }

private func jackPortNameChange(
    _: jack_port_id_t, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ argument: UnsafeMutableRawPointer?
) { wake(argument) }

private func jackGraphChange(_ argument: UnsafeMutableRawPointer?) -> CInt {
    wake(argument)
    return 0
}

private func jackFormatChange(_: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> CInt {
    wake(argument)
    return 0
}
