// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation
import Synchronization

/// Reports possible changes of sound devices: after a change in the folder of their nodes, or periodically for devices without
/// such events.
final class ALSAWatcher: Sendable {
    private struct Sources {
        var events: (any DispatchSourceRead)?
        var timer: (any DispatchSourceTimer)?
        var isStopped = false
    }
    private let sources = Mutex(Sources())
    private let queue = DispatchQueue(label: "alsa-devices")
    private let folder: String
    /// The seconds from an event to the check of the devices: events come in bursts, and udev sets a node's owner shortly after
    /// creating the node.
    private static let settleTime = 0.25
    private let tickInterval: Double

    /// - Parameters:
    ///   - folder: the folder of the kernel's PCM nodes; it may be created later.
    ///   - tickInterval: the interval of periodic checks in seconds.
    init(folder: String = "/dev/snd", tickInterval: Double = 3) {
        self.folder = folder
        self.tickInterval = tickInterval
    }

    /// Starts watching.
    /// - Parameters:
    ///   - tick: called at the interval, for devices without events, while the kernel gives events for the other devices.
    ///   - look: called shortly after an event or, if the kernel gives no events at all, at the interval. Both closures are
    ///     called on this object's queue.
    func start(tick: @escaping @Sendable () -> Void, look: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        let hasEvents = descriptor >= 0 && watch(descriptor)
        sources.withLock { sources in
            guard !sources.isStopped else { return }
            if descriptor >= 0 { sources.events = reader(descriptor, look) }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + tickInterval, repeating: tickInterval)
            timer.setEventHandler { hasEvents ? tick() : look() }
            timer.activate()
            sources.timer = timer
        }
    }

    /// Stops watching; a running check continues to its end.
    func stop() {
        sources.withLock { sources in
            sources.isStopped = true
            sources.events?.cancel()
            sources.timer?.cancel()
        }
    }

    private func reader(_ descriptor: CInt, _ look: @escaping @Sendable () -> Void) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            guard let self, takeEvents(descriptor) else { return }
            _ = watch(descriptor)  // the folder itself may be new
            queue.asyncAfter(deadline: .now() + Self.settleTime, execute: look)
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        return source
    }

    /// Watches the folder, and its parent folder, in which it may be created later. Returns false if neither can be watched.
    private func watch(_ descriptor: CInt) -> Bool {
        let changes = UInt32(IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO)
        let parent = (folder as NSString).deletingLastPathComponent
        let isInFolder = inotify_add_watch(descriptor, folder, changes) >= 0
        return inotify_add_watch(descriptor, parent, UInt32(IN_CREATE | IN_DELETE)) >= 0 || isInFolder
    }

    /// Reads all pending events. Returns true if one is about a sound device, or about the folder itself.
    private func takeEvents(_ descriptor: CInt) -> Bool {
        var isOurs = false
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return isOurs }
            let names = Self.names(bytes.prefix(count))
            isOurs = isOurs || names.contains { isOfSound($0) }
        }
    }

    private func isOfSound(_ name: String) -> Bool {
        name == (folder as NSString).lastPathComponent || name.hasPrefix("pcmC") || name.hasPrefix("controlC")
    }

    /// Returns the file names in the kernel's inotify records. The last four of a record's 16 bytes are the length of the name
    /// that follows them.
    static func names(_ bytes: ArraySlice<UInt8>) -> [String] {
        var rest = bytes
        var names: [String] = []
        while rest.count >= 16 {
            let length = rest.dropFirst(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(16)
            names.append(String(decoding: rest.prefix(length).prefix { $0 != 0 }, as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        return names
    }
}
