// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct LatestValueTests {
    @Test func readsAsItsInitialValueUntilSomethingIsStored() {
        let box = LatestValue(7)
        #expect(box.load() == 7)
        #expect(box.load() == 7)
    }

    @Test(arguments: 1...5)
    func theNewestOfManyIsRead(stores: Int) {
        let box = LatestValue(0)
        for round in 1...20 {
            for n in 1...stores { box.writer.store(round * 100 + n) }
            #expect(box.load() == round * 100 + stores)
            #expect(box.load() == round * 100 + stores)
        }
    }
}
