// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotRooms
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall

@Suite struct DuetChangesTests {
    private func status(
        _ phase: DuetStatus<MemberID>.Phase, at position: Double = 0,
        _ change: (inout LiveDuetStatus) -> Void = { _ in }
    ) -> LiveDuetStatus {
        var duet = DuetStatus<MemberID>()
        (duet.song, duet.phase, duet.position) = (SongFile.describe(Beat(tempo: 96), duration: 60), phase, position)
        var status = LiveDuetStatus(duet: duet)
        change(&status)
        return status
    }

    @Test func `a duet changes by what is done to it, not by the clock`() {
        var changes = DuetChanges()
        func now(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 5).advanced(bySeconds: seconds) }
        func isChanged(_ status: LiveDuetStatus?, _ seconds: Double) -> Bool { changes.note(status, at: now(seconds)) }
        #expect(!isChanged(nil, 0))
        #expect(isChanged(status(.gettingSong), 0))
        #expect(!isChanged(status(.gettingSong) { $0.arrivedPart = 0.5 }, 0.1))
        #expect(isChanged(status(.counting(2)), 1) && !isChanged(status(.counting(1)), 2))
        #expect(isChanged(status(.singing), 3) && !isChanged(status(.singing, at: 7.05), 10))
        // Somebody seeks.
        #expect(isChanged(status(.singing, at: 20), 11) && !isChanged(status(.singing, at: 21), 12))
        #expect(isChanged(status(.paused, at: 21), 12.1) && !isChanged(status(.paused, at: 21), 15))
        #expect(isChanged(status(.paused, at: 5), 15))
        #expect(isChanged(status(.singing, at: 5), 16))
        #expect(isChanged(status(.singing, at: 5.1) { $0.duet.singers = [.init(member: CoreRig.id(2))] }, 16.1))
        #expect(isChanged(status(.ended, at: 60), 80) && !isChanged(status(.ended, at: 60), 81))
        #expect(isChanged(status(.ended, at: 60) { $0.mixPath = "/mix.m4a" }, 82))
        // The mix begins half a second after the order.
        #expect(isChanged(status(.listening), 83) && !isChanged(status(.listening), 83.2))
        #expect(!isChanged(status(.listening), 83.4) && !isChanged(status(.listening, at: 0.1), 83.6))
        #expect(isChanged(nil, 84))
    }
}
