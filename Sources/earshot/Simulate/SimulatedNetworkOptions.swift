// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotSimulation
import Foundation

extension NetworkProfile.Name: ExpressibleByArgument {}

/// The network of a simulated call.
struct SimulatedNetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Network profile of each direction. [default: lan]",
            valueName: "name"))
    var profile: NetworkProfile.Name?

    @Option(
        help: ArgumentHelp(
            "Trace file to use instead of a profile. One line per packet: its delay in ms, or 'lost'.",
            valueName: "file"),
        completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp(
            "Capacity of each direction in kb/s, from a second of the call on with @: 1000, 100@30, unlimited@60. Repeat for several.",
            valueName: "rate"),
        transform: { argument in
            guard let step = CapacityStep(argument: argument) else {
                throw ValidationError("use 1 to 10000000 kb/s: 1000, 100@30 or unlimited@60")
            }
            return step
        })
    var linkRate: [CapacityStep] = []

    @Option(
        help: ArgumentHelp(
            "Queue of a link with a --link-rate, in bytes. [default: 0.2 s of its rate, at least 3000]",
            valueName: "bytes"))
    var queue: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds of the call in which every packet is lost: 10-12.5. Repeat for several.", valueName: "span"),
        transform: TimeSpan.init(parsing:))
    var outage: [TimeSpan] = []

    @Option(
        help: ArgumentHelp(
            "Seconds of the call in which packets are held back: 10-12.5. Repeat for several.", valueName: "span"),
        transform: TimeSpan.init(parsing:))
    var stall: [TimeSpan] = []

    func validate() throws {
        if profile != nil, trace != nil {
            throw ValidationError("--trace replaces --profile; use one of them")
        }
        if let queue {
            guard (1...1_000_000_000).contains(queue) else {
                throw ValidationError("--queue must be 1 to 1000000000 bytes")
            }
            guard !linkRate.isEmpty else { throw ValidationError("--queue needs --link-rate") }
        }
        let times = linkRate.map(\.at)
        if Set(times).count < times.count { throw ValidationError("--link-rate is given twice for the same time") }
    }

    /// The network's name in the report: the path of the trace, or the name of the profile.
    var name: String { trace ?? (profile ?? .lan).rawValue }

    func conditions() throws -> NetworkProfile {
        var network = NetworkProfile(profile ?? .lan)
        if let trace { network.trace = try Self.read(trace) }
        network.capacity.queueBytes = queue
        for step in linkRate {
            if step.at == 0 {
                network.capacity.bitsPerSecond = step.bitsPerSecond
            } else {
                network.events.append(.capacity(bitsPerSecond: step.bitsPerSecond, at: step.at))
            }
        }
        network.events += outage.map { .outage($0.range) } + stall.map { .stall($0.range) }
        return network
    }

    private static func read(_ path: String) throws -> NetworkTrace {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure("\(path): \(String(cString: strerror(errno))). Name a trace file.", status: Failure.noInput)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path): not a regular file. Name a trace file.", status: Failure.noInput)
        }
        guard status.st_size <= 512 << 20 else {
            throw Failure("\(path): larger than 512 MiB. Use a shorter part; it is repeated.", status: Failure.data)
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure("\(path): permission denied. Check its mode: ls -l", status: Failure.noInput)
        }
        do throws(NetworkTraceError) {
            return try NetworkTrace(data)
        } catch {
            throw Failure("\(path): \(ErrorText.text(error))", status: Failure.data)
        }
    }
}

/// A link's capacity from a second of the call on, as `1000`, `100@30` or `unlimited@60`.
struct CapacityStep {
    /// The capacity in bits per second; nil for no limit.
    let bitsPerSecond: Double?
    /// The second of the call at which this capacity begins.
    let at: Double

    init?(argument: String) {
        let parts = argument.split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { return nil }
        if parts.count == 2 {
            guard let at = Double(parts[1]), at >= 0, at < 1e9 else { return nil }
            self.at = at
        } else {
            at = 0
        }
        if parts[0] == "unlimited" {
            bitsPerSecond = nil
        } else {
            guard let kilobits = Double(parts[0]), kilobits >= 1, kilobits <= 1e7 else { return nil }
            bitsPerSecond = 1e3 * kilobits
        }
    }
}

/// A span of a call in seconds, as `10-12.5`. The end is excluded.
struct TimeSpan {
    let range: Range<Double>

    init(parsing argument: String) throws {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let from = parts[0], let to = parts[1], from >= 0, to > from, to < 1e9 else {
            throw ValidationError("use two times in seconds, the earlier first: 10-12.5")
        }
        range = from..<to
    }
}
