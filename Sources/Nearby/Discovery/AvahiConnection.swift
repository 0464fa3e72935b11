// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import CEarshotDBus
import EarshotAudioBase
import Glibc

/// The work of a client of Avahi's daemon, all on the loop's thread.
protocol AvahiClientDelegate: AnyObject {
    /// The daemon is there and takes what is announced. It may come again for the same client.
    func becameReady(_ client: OpaquePointer)
    /// The daemon gives its machine another name: what it was told is to be told again when it is ready.
    func becameBusy()
    /// Called in each round, before the thread sleeps.
    /// - Throws: what makes the client of no more use.
    func update() throws(DiscoveryError)
    /// The client is about to be freed, and all that hangs on it.
    func clientEnds()
    /// The daemon cannot be had, for now.
    func becameUnavailable(_ reason: DiscoveryError)
}

/// A client of the daemon, made anew as the daemon comes and goes. One thread.
///
/// Safe since the loop outlives it, and the client is used on the loop's thread until ``close()``.
@safe final class AvahiConnection {
    private let poll: OpaquePointer
    private let work: any AvahiClientDelegate
    private var client: OpaquePointer?
    private var failure: CInt?
    private var retryTime = HostTime.now()

    /// Seconds until the next try after the daemon ended or could not be reached.
    private static let pause = 0.25
    private static let longPause = 2.0

    init(_ poll: OpaquePointer, _ work: any AvahiClientDelegate) {
        unsafe self.poll = unsafe poll
        self.work = work
    }

    /// One round: does what is to be done, then sleeps until something comes or the loop is woken.
    func step() {
        if unsafe client == nil, retryTime <= .now() { open() }
        do throws(DiscoveryError) {
            try work.update()
        } catch {
            drop(error, pause: Self.longPause)
        }
        // Without a client nothing comes but the next try.
        let wait = unsafe client == nil ? CInt(max(0, retryTime.seconds(since: .now())) * 1e3) + 1 : -1
        if unsafe avahi_simple_poll_iterate(poll, wait) < 0 { usleep(100_000) }
        if let failure { drop(DiscoveryError(avahi: failure), pause: Self.pause) }
    }

    /// Frees the client; the daemon withdraws what it was told.
    func close() {
        failure = nil
        guard let client = unsafe client else { return }
        work.clientEnds()
        unsafe avahi_client_free(client)
        unsafe self.client = nil
    }

    private func drop(_ reason: DiscoveryError, pause: Double) {
        close()
        work.becameUnavailable(reason)
        retryTime = .now().advanced(bySeconds: pause)
    }

    private func open() {
        earshot_dbus_leave_sigpipe()
        var code: CInt = 0
        // Without a daemon the client waits for one, which the bus tells.
        unsafe client = unsafe avahi_client_new(
            avahi_simple_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
            { client, state, context in
                guard let client = unsafe client, let context = unsafe context else { return }
                unsafe Unmanaged<AvahiConnection>.fromOpaque(context).takeUnretainedValue().handleState(
                    state, of: client)
            }, unsafe Unmanaged.passUnretained(self).toOpaque(), &code)
        if unsafe client == nil {
            // Without the bus's socket libavahi claims that the daemon is missing.
            let isBus = [AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_NO_DAEMON].contains(Int(code))
            drop(isBus ? .noBus : DiscoveryError(avahi: code), pause: Self.longPause)
        }
    }

    /// Also called from within `avahi_client_new`.
    private func handleState(_ state: AvahiClientState, of client: OpaquePointer) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING: unsafe work.becameReady(client)
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: work.becameBusy()
        case AVAHI_CLIENT_CONNECTING: work.becameUnavailable(.absentDaemon)
        case AVAHI_CLIENT_FAILURE: failure = unsafe avahi_client_errno(client)
        default: break
        }
    }
}
