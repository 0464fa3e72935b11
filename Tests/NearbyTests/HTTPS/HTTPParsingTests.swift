// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotNearby

@Suite(.timeLimit(.minutes(10))) struct HTTPTargetTests {
    @Test func `a path is split into its components, and its query is ignored`() {
        let target = HTTPTarget("/room/members/a%2Fb%20c?epoch=2&flag&name=%C3%A9&epoch=3")
        #expect(target?.path == "/room/members/a%2Fb%20c")
        #expect(target?.components == ["room", "members", "a/b c"])
        #expect(HTTPTarget("/")?.components == [])
        #expect(HTTPTarget("//a//b/?")?.components == ["a", "b"])
    }

    @Test(arguments: ["", "room", "*", "http://a/b", "/%", "/%4", "/%zz", "/%FF", "/a b", "/é", "/\u{7F}"])
    func `an invalid request target is rejected`(text: String) { #expect(HTTPTarget(text) == nil) }

    @Test(arguments: ["", "a", "a/b?c=d&e#f%g", "é\r\n\0", "..", "日本"])
    func `an escaped path component is decoded to the original text`(text: String) {
        let target = HTTPTarget("/x\(HTTPTarget.escape(text))")
        #expect(target?.components == ["x" + text])
    }
}
