// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Each event in each state of a negotiation, with a remote peer that joined before or after the local one.
@Suite struct NegotiationTableTests {
    /// The states, by their columns in the table: S stable, E expecting an offer, L local offer, A answering, W waiting for a time,
    /// B waiting until the member is back; R with a running session.
    private static let states = ["S", "E", "R", "L", "LR", "A", "AR", "W", "WR", "B", "BR"]

    /// The next state and the actions; `-` leaves everything unchanged. Of two alternatives the first is the offerer's.
    private static let table = """
        event          |S                |E             |R                |L              |LR            |A                |AR               |W             |WR            |B             |BR
        offerReceived  |A answer         |A answer      |AR answer        |- / A answer   |- / AR answer |A answer         |AR answer        |A answer      |AR answer     |A answer      |AR answer
        answerReceived |-                |-             |-                |L apply        |LR apply      |-                |-                |-             |-             |-             |-
        otherAnswer    |-                |-             |-                |-              |-             |-                |-                |-             |-             |-             |-
        offerFailed    |-                |-             |-                |W              |WR            |-                |-                |-             |-             |-             |-
        memberIsAway   |-                |-             |-                |B              |BR            |-                |-                |-             |-             |-             |-
        offerEnded     |-                |-             |-                |S close refusal|R refusal     |-                |-                |-             |-             |-             |-
        sessionEnded   |-                |-             |S close          |-              |W close       |-                |A close          |-             |S close       |-             |S close
        offerNotMade   |-                |-             |-                |B              |R             |-                |-                |-             |-             |-             |-
        answered       |-                |-             |-                |-              |-             |R                |R                |-             |-             |-             |-
        answeredKept   |-                |-             |-                |-              |-             |R                |R                |-             |-             |-             |-
        rejected       |-                |-             |-                |-              |-             |S                |S                |-             |-             |-             |-
        rejectedKept   |-                |-             |-                |-              |-             |S                |R                |-             |-             |-             |-
        applied        |-                |-             |-                |R              |R             |-                |-                |-             |-             |-             |-
        appliedKept    |-                |-             |-                |R              |R             |-                |-                |-             |-             |-             |-
        answerRejected |-                |-             |-                |W              |R             |-                |-                |-             |-             |-             |-
        transportOpened|-                |-             |-                |-              |-             |-                |-                |-             |-             |-             |-
        transportEnded |W close / E close|E close       |W close / E close|W close        |W close       |W close / E close|W close / E close|W close       |W close       |B close       |B close
        renegotiate    |L offer          |L offer       |LR reoffer       |-              |-             |-                |-                |-             |-             |L offer       |LR reoffer
        tick           |-                |L offer       |-                |-              |-             |-                |-                |L offer       |LR reoffer    |-             |-
        sameRoster     |-                |-             |-                |-              |-             |-                |-                |-             |-             |-             |-
        moved          |S candidates     |E candidates  |R candidates     |L candidates   |LR candidates |A candidates     |AR candidates    |W candidates  |WR candidates |B candidates  |BR candidates
        away           |-                |-             |-                |-              |-             |-                |-                |-             |-             |-             |-
        back           |-                |-             |-                |-              |-             |-                |-                |L offer       |LR reoffer    |L offer       |LR reoffer
        memberLeft     |gone forget      |gone forget   |gone forget      |gone forget    |gone forget   |gone forget      |gone forget      |gone forget   |gone forget   |gone forget   |gone forget
        left           |gone forget      |gone forget   |gone forget      |gone forget    |gone forget   |gone forget      |gone forget      |gone forget   |gone forget   |gone forget   |gone forget
        admitted       |L forget offer   |L forget offer|L forget offer   |L forget offer |L forget offer|L forget offer   |L forget offer   |L forget offer|L forget offer|L forget offer|L forget offer
        """

    struct Case: CustomTestStringConvertible {
        let event: String
        let isOfferer: Bool
        /// In the order of the states.
        let expected: [String]

        var testDescription: String { "\(event), \(isOfferer ? "offerer" : "the other")" }
    }

    static let cases: [Case] = table.split(separator: "\n").dropFirst().flatMap { line -> [Case] in
        let cells = line.split(separator: "|").map { $0.trimming(" ") }
        return [true, false].map { isOfferer in
            Case(
                event: cells[0], isOfferer: isOfferer,
                expected: cells.dropFirst().map { cell in
                    let sides = cell.split(separator: "/").map { $0.trimming(" ") }
                    return isOfferer ? sides[0] : sides[sides.count - 1]
                })
        }
    }

    @Test(arguments: cases) func `each event in each state leads to the state and actions in the table`(_ test: Case)
        throws
    {
        try #require(test.expected.count == Self.states.count)
        for (state, expected) in zip(Self.states, test.expected) {
            var pair = NegotiationPair(isOfferer: test.isOfferer)
            pair.enter(state, isAway: test.event == "memberIsAway" || test.event == "back")
            let before = pair.state
            let actions = pair.core.handle(try pair.event(test.event), at: pair.now).map(\.label)
            let found = ([pair.state] + actions).joined(separator: " ")
            #expect(before == state && found == (expected == "-" ? state : expected), "in \(state)")
        }
        let peer = NegotiationPair(isOfferer: test.isOfferer).core.peers[NegotiationPair.remote]
        #expect(peer?.isOfferer == test.isOfferer)
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> String {
        String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
    }
}
