// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotNearby

@Suite(.timeLimit(.minutes(10))) struct HTTPTargetTests {
    @Test func `paths are taken apart, and queries passed over`() {
        let target = HTTPTarget("/room/members/a%2Fb%20c?epoch=2&flag&name=%C3%A9&epoch=3")
        #expect(target?.path == "/room/members/a%2Fb%20c")
        #expect(target?.components == ["room", "members", "a/b c"])
        #expect(HTTPTarget("/")?.components == [])
        #expect(HTTPTarget("//a//b/?")?.components == ["a", "b"])
    }

    @Test(arguments: ["", "room", "*", "http://a/b", "/%", "/%4", "/%zz", "/%FF", "/a b", "/é", "/\u{7F}"])
    func `what is no target is none`(text: String) { #expect(HTTPTarget(text) == nil) }

    @Test(arguments: ["", "a", "a/b?c=d&e#f%g", "é\r\n\0", "..", "日本"])
    func `what is escaped comes back`(text: String) {
        let target = HTTPTarget("/x\(HTTPTarget.escape(text))")
        #expect(target?.components == ["x" + text])
    }
}
