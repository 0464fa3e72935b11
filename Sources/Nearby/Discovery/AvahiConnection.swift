// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import CEarshotDBus
import EarshotAudioBase
import Glibc

/// The work of a client of Avahi's daemon, on the loop's thread.
protocol AvahiClientDelegate: AnyObject {
    /// The daemon runs and accepts announcements. May be called again for the same client.
    func becameReady(_ client: OpaquePointer)
    /// The daemon changes its host name: everything must be announced again when it is ready.
    func becameBusy()
    /// Called in each round, before the thread sleeps.
    /// - Throws: an error that makes the client useless.
    func update() throws(DiscoveryError)
    /// The client and its objects will be freed.
    func clientEnds()
    /// The daemon is not available for now.
    func becameUnavailable(_ reason: DiscoveryError)
}

/// A client of the daemon, created again whenever the daemon restarts. For one thread.
///
/// Safe since the loop outlives it, and the client is used on the loop's thread until ``close()``.
@safe final class AvahiConnection {
    private let poll: OpaquePointer
    private let work: any AvahiClientDelegate
    private var client: OpaquePointer?
    private var failure: CInt?
    private var retryTime = HostTime.now()

    /// The seconds until the next try after the daemon has ended.
    private static let pause = 0.25
    /// The seconds until the next try after a client could not be created, or its work has failed.
    private static let longPause = 2.0

    init(_ poll: OpaquePointer, _ work: any AvahiClientDelegate) {
        unsafe self.poll = unsafe poll
        self.work = work
    }

    /// Runs one round: does pending work, then sleeps until an event or ``AvahiLoop/wake()``.
    func step() {
        if unsafe client == nil, retryTime <= .now() { open() }
        do throws(DiscoveryError) {
            try work.update()
        } catch {
            drop(error, pause: Self.longPause)
        }
        // Without a client, the only event to wait for is the time of the next try.
        let wait = unsafe client == nil ? CInt(max(0, retryTime.seconds(since: .now())) * 1e3) + 1 : -1
        if unsafe avahi_simple_poll_iterate(poll, wait) < 0 { usleep(100_000) }
        if let failure { drop(DiscoveryError(avahi: failure), pause: Self.pause) }
    }

    /// Frees the client, so that the daemon withdraws the client's announcements.
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
        // If no daemon runs, the client waits, by D-Bus, until one starts.
        unsafe client = unsafe avahi_client_new(
            avahi_simple_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
            { client, state, context in
                guard let client = unsafe client, let context = unsafe context else { return }
                unsafe Unmanaged<AvahiConnection>.fromOpaque(context).takeUnretainedValue().handleState(
                    state, of: client)
            }, unsafe Unmanaged.passUnretained(self).toOpaque(), &code)
        if unsafe client == nil {
            // Without the socket of D-Bus libavahi claims that the daemon is missing.
            let isBus = [AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_NO_DAEMON].contains(Int(code))
            drop(isBus ? .noBus : DiscoveryError(avahi: code), pause: Self.longPause)
        }
    }

    /// Handles a new state of the client. `avahi_client_new` may call this method before it returns.
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
