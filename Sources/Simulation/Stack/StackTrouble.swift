// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Draws the disturbances of a ``StackSimulation``, and knows their ends.
struct StackTrouble {
    var random: SeededRandom
    /// The disturbances so far.
    var count = 0
    /// The time at which the last disturbance will have ended.
    var end = HostTime(nanoseconds: 0)
    /// The time of the next episode; nil until the members have settled.
    var next: HostTime?

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    mutating func seconds(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
    }

    /// Returns a random duration in seconds. Short durations are much more likely than long ones.
    mutating func duration(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * random.unit() * random.unit() * random.unit()
    }

    mutating func disturbance(memberCount: Int, duration range: ClosedRange<Double>) -> Disturbance {
        let member = number(below: memberCount)
        let other = (member + 1 + number(below: memberCount - 1)) % memberCount
        let seconds = duration(in: range)
        switch number(below: 13) {
        case 0: return .leave(member, for: max(0.6, seconds))
        case 1: return .crash(member, for: seconds)
        case 2: return .powerLoss(member, for: seconds)
        case 3, 4: return .move(member, gap: min(seconds, 5) * random.unit())
        case 5: return .cut(member, other, for: seconds)
        case 6: return .isolate(member, for: seconds)
        case 7: return .blockDatagrams(member, other, for: seconds)
        case 8:
            return .weather(
                loss: 0.4 * random.unit(), delay: 0.15 * random.unit(), duplication: 0.2 * random.unit(),
                reordering: 0.2 * random.unit(), for: seconds)
        case 9: return .update(member)
        case 10: return .renegotiate(member, other)
        case 11: return .hostLeaves(for: max(0.6, seconds))
        default: return .hostCrashes(for: seconds)
        }
    }
}

extension StackSimulation {
    /// Starts an episode of disturbances.
    func beginEpisode(_ form: Trouble) {
        trouble.next = nil
        for _ in 0...trouble.number(below: form.count) {
            let disturbance = trouble.disturbance(memberCount: members.count, duration: form.duration)
            let wait = form.length * trouble.random.unit()
            schedule(disturbance, after: wait)
        }
    }

    /// Schedules a disturbance.
    package func schedule(_ disturbance: Disturbance, after seconds: Double) {
        disturbed(for: seconds + disturbance.duration)
        after(seconds) { [self] in begin(disturbance) }
    }

    /// Allows the members not to agree for this number of seconds, and restarts the wait for their agreement.
    func disturbed(for seconds: Double) {
        trouble.end = max(trouble.end, now.advanced(bySeconds: seconds))
        watch.disturbed()
    }

    private func begin(_ disturbance: Disturbance) {
        trouble.count += 1
        log(nil, "\(disturbance)")
        disturbed(for: disturbance.duration)
        switch disturbance {
        case .leave(let index, let seconds): leave(members[index], for: seconds)
        case .crash(let index, let seconds): crash(members[index], for: seconds)
        case .powerLoss(let index, let seconds):
            members[index].losePower()
            restart(members[index], after: seconds)
        case .move(let index, let gap): members[index].move(gap: gap)
        case .cut(let a, let b, let seconds): cut([(a, b)], for: seconds)
        case .isolate(let index, let seconds):
            cut(members.indices.filter { $0 != index }.map { (index, $0) }, for: seconds)
        case .blockDatagrams(let a, let b, let seconds):
            network.blockDatagrams(a, b, by: 1)
            after(seconds) { [self] in network.blockDatagrams(a, b, by: -1) }
        case .weather(let loss, let delay, let duplication, let reordering, let seconds):
            var profile = NetworkProfile(
                delay: .uniform(0.001...0.001 + delay), loss: .independent(loss), reordering: reordering,
                reorderingDelay: 0.02)
            profile.duplication = duplication
            network.setProfile(profile)
            after(seconds) { [self] in network.setProfile(configuration.network) }
        case .update(let index): members[index].update()
        case .renegotiate(let a, let b): members[a].process?.renegotiate(members[b])
        case .hostLeaves(let seconds): for member in hosts { leave(member, for: seconds) }
        case .hostCrashes(let seconds): for member in hosts { crash(member, for: seconds) }
        }
    }

    var hosts: [SimulatedMember] { members.filter { $0.process?.isHost == true } }

    private func leave(_ member: SimulatedMember, for seconds: Double) {
        member.wantsIn = false
        member.process?.leave()
        after(seconds) { member.wantsIn = true }
    }

    private func crash(_ member: SimulatedMember, for seconds: Double) {
        member.crash()
        restart(member, after: seconds)
    }

    private func restart(_ member: SimulatedMember, after seconds: Double) {
        after(seconds) { [self] in if member.process == nil { start(member) } }
    }

    private func cut(_ pairs: [(Int, Int)], for seconds: Double) {
        for (a, b) in pairs { network.cut(a, b, by: 1) }
        after(seconds) { [self] in for (a, b) in pairs { network.cut(a, b, by: -1) } }
    }
}
