// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotSimulation

/// The sound cards of a simulated call: each option has one number for all, or one for each peer.
struct SimulatedCardsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sample rate of the devices in Hz, or of each: 44100,48000.", valueName: "hertz"))
    var rate = NumberList(values: [48_000])

    @Option(
        help: ArgumentHelp(
            "Frames per block of the devices, or of each.", valueName: "frames"))
    var block = NumberList(values: [128])

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Clock error in ppm: the largest, spread evenly over the devices, or of each: 40,-25.",
            valueName: "ppm"))
    var drift = NumberList(values: [0])

    func check(peers: Int) throws {
        for (list, name) in [(rate, "--rate"), (block, "--block"), (drift, "--drift")]
        where list.values.count != 1 && list.values.count != peers {
            throw ValidationError(
                "\(name) must be one number, or \(peers), one for each peer; got \(list.values.count)")
        }
        guard rate.values.allSatisfy({ AudioFormat.sampleRates.contains($0) && $0 == $0.rounded() }) else {
            throw ValidationError("--rate must be a whole number from 8000 to 384000 (Hz)")
        }
        guard block.values.allSatisfy({ (1...4_096).contains($0) && $0 == $0.rounded() }) else {
            throw ValidationError("--block must be 1 to 4096 (frames)")
        }
        guard drift.values.allSatisfy({ abs($0) <= 10_000 }) else {
            throw ValidationError("--drift must be -10000 to 10000 ppm")
        }
    }

    /// - Parameter count: the number of peers.
    func peers(_ count: Int) -> [CallSimulation.Configuration.Peer] {
        (0..<count).map { index in
            var peer = CallSimulation.Configuration.Peer()
            peer.sampleRate = rate[index]
            peer.blockFrameCount = Int(block[index])
            peer.driftPPM =
                drift.values.count == 1
                ? drift[0] * (1 - 2 * Double(index) / Double(count - 1)) + 0 : drift[index]  // + 0 turns −0 into 0
            return peer
        }
    }
}

/// A list of numbers, separated by commas.
struct NumberList: ExpressibleByArgument {
    let values: [Double]

    init(values: [Double]) { self.values = values }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        let numbers = parts.compactMap(\.self)
        guard numbers.count == parts.count, numbers.allSatisfy(\.isFinite) else { return nil }
        values = numbers
    }

    var defaultValueDescription: String { values.map { SimulateCommand.number($0) }.joined(separator: ",") }

    /// Returns the value for the peer with an index from 0. A single value applies to all peers.
    subscript(index: Int) -> Double { values.count == 1 ? values[0] : values[index] }
}
