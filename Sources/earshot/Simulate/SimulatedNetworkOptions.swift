// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotSimulation
import Foundation

extension NetworkProfile.Name: ExpressibleByArgument {}

/// The network of a simulated call.
struct SimulatedNetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What each way between two is like. Default: lan.",
            valueName: "name"))
    var profile: NetworkProfile.Name?

    @Option(
        help: ArgumentHelp(
            "What became of a network's packets, in the place of a profile: a line for each, its delay in ms or 'lost'.",
            valueName: "file"),
        completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp(
            "What each way carries, in kilobits a second, and with @ from which second on; unlimited ends it. May be repeated.",
            valueName: "kb/s[@s]"),
        transform: { argument in
            guard let step = CapacityStep(argument: argument) else {
                throw ValidationError("it takes 1 to 10000000 kb/s, as 1000, 100@30 or unlimited@60")
            }
            return step
        })
    var capacity: [CapacityStep] = []

    @Option(
        help: ArgumentHelp(
            "Bytes that wait before a link with a --capacity. Default: what it carries in 0.2 s, 3000 at least.",
            valueName: "bytes"))
    var queue: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds of the call in which all is lost, as 10-12.5. May be repeated.", valueName: "from-to"),
        transform: TimeSpan.init(parsing:))
    var outage: [TimeSpan] = []

    @Option(
        help: ArgumentHelp(
            "Seconds of the call in which nothing moves, to arrive afterwards. May be repeated.", valueName: "from-to"),
        transform: TimeSpan.init(parsing:))
    var stall: [TimeSpan] = []

    func validate() throws {
        if profile != nil, trace != nil {
            throw ValidationError("--trace takes the place of --profile; give one of them")
        }
        if let queue {
            guard (1...1_000_000_000).contains(queue) else {
                throw ValidationError("--queue takes 1 to 1000000000 bytes")
            }
            guard !capacity.isEmpty else { throw ValidationError("--queue belongs to --capacity") }
        }
        let times = capacity.map(\.at)
        if Set(times).count < times.count { throw ValidationError("--capacity is given twice for one time") }
    }

    /// The name for a person.
    var name: String { trace ?? (profile ?? .lan).rawValue }

    func conditions() throws -> NetworkProfile {
        var network = NetworkProfile(profile ?? .lan)
        if let trace { network.trace = try Self.read(trace) }
        network.capacity.queueBytes = queue
        for step in capacity {
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
            throw Failure("\(path): \(String(cString: strerror(errno))); name a trace", status: Failure.noInput)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path): is no plain file; name a trace", status: Failure.noInput)
        }
        guard status.st_size <= 512 << 20 else {
            throw Failure("\(path): is larger than 512 MiB; give a part of it, which is repeated", status: Failure.data)
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure("\(path): permission denied; check its mode (ls -l)", status: Failure.noInput)
        }
        do throws(NetworkTraceError) {
            return try NetworkTrace(data)
        } catch {
            throw Failure("\(path): \(ErrorText.text(error))", status: Failure.data)
        }
    }
}

/// The capacity of a link from a time on, as `1000`, `100@30` or `unlimited@60`.
struct CapacityStep {
    /// Nil for any number.
    let bitsPerSecond: Double?
    /// Seconds of the call.
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

/// A part of a call, as `10-12.5`: seconds, the end left out.
struct TimeSpan {
    let range: Range<Double>

    init(parsing argument: String) throws {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let from = parts[0], let to = parts[1], from >= 0, to > from, to < 1e9 else {
            throw ValidationError("it takes two seconds of the call, the lesser first, as 10-12.5")
        }
        range = from..<to
    }
}
