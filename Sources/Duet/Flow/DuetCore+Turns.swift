// SPDX-License-Identifier: Apache-2.0

/// The turns of singers: each is an attempt.
extension DuetCore {
    /// True if a singer sings the attempt. The others listen.
    /// - Parameter number: the random number of the singer; nil from an earlier program.
    func sings(_ number: UInt64?) -> Bool { transport.isInTurn != true || transport.leader == number }

    /// Begins the turn of the next singer: a new attempt, which keeps the voices of this one. All must agree to it.
    /// - Parameter id: the random number of the attempt.
    package mutating func beginNextTurn(id: UInt64? = nil) throws(DuetRefusal) {
        guard song != nil else { throw .noSong }
        guard transport.isInTurn == true else { throw .notInTurn }
        guard mix == transport.attempt else { throw .mixMissing }
        let kept = transport.attempt
        let leader = try number(of: nextSinger)
        try singAgain(id: id)
        transport.setLeader(leader, isInTurn: true)
        transport.kept = kept
    }

    /// The singer after that of the present turn. After the last one comes the first, also if the singer of the turn has left.
    var nextSinger: Member {
        let singers = ([own] + others.filter { $0.value.message.singer != nil }.keys).sorted()
        let present = singers.firstIndex { $0 == mode?.leader }
        return singers[present.map { ($0 + 1) % singers.count } ?? 0]
    }
}
