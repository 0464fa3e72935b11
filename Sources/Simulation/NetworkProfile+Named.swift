// SPDX-License-Identifier: Apache-2.0

extension NetworkProfile {
    /// The named profiles, as in `earshot simulate --profile`.
    package enum Name: String, CaseIterable, Sendable {
        case lan
        case wifiGood = "wifi-good"
        case wifiCongested = "wifi-congested"
        case netEQBurst = "neteq-burst"
        case independent2 = "iid-2"
        case independent5 = "iid-5"
        case independent10 = "iid-10"
    }

    /// Creates the profile of a name. docs/simulation.md has its numbers.
    package init(_ name: Name) {
        self =
            switch name {
            case .lan: .lan
            case .wifiGood: .wifiGood
            case .wifiCongested: .wifiCongested
            case .netEQBurst: .netEQBurst
            case .independent2: .independent(0.02)
            case .independent5: .independent(0.05)
            case .independent10: .independent(0.10)
            }
    }

    /// A wired network: a delay of 1 to 3 ms, without losses.
    package static let lan = NetworkProfile(delay: .uniform(0.001...0.003))

    /// Good Wi-Fi: a mean delay of 40 ms with a standard deviation of 5 ms; one in 500 packets is lost.
    package static let wifiGood = NetworkProfile(
        delay: .normal(mean: 0.040, deviation: 0.005, within: 0.025...0.055), loss: .independent(0.002))

    /// Congested Wi-Fi: a delay of 20 to 60 ms, 3 % lost in bursts, 2 % reordered, and every 5 s a stall of 150 ms.
    package static let wifiCongested = NetworkProfile(
        delay: .gamma(shape: 2, scale: 0.006, within: 0.020...0.060), loss: .bursts(share: 0.03, packets: 2.5),
        reordering: 0.02, reorderingDelay: 0.025, stalls: RepeatedStall(period: 5, length: 0.150))

    /// A constant delay of 20 ms; everything is lost in bursts of 30 ms, a tenth of the time, as in tests of NetEQ.
    package static let netEQBurst = NetworkProfile(
        delay: .constant(0.020), loss: .blackouts(share: 0.10, seconds: 0.030))

    /// Returns a network with a delay of 20 ms and independent losses of this share.
    package static func independent(_ share: Double) -> NetworkProfile {
        NetworkProfile(delay: .constant(0.020), loss: .independent(share))
    }
}
