// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallSocketServer {
    /// Opens the socket of a call; nil without a runtime folder of this user. Warns if the socket cannot be created.
    static func open(for call: LiveCall) -> CallSocketServer? {
        guard let folder = CallSocketFolder() else { return nil }
        do throws(CallSocketError) {
            return try CallSocketServer(call, program: CallReport.version, folder: folder)
        } catch {
            Terminal.warn("Other terminals cannot control this call: \(ErrorText.text(error))")
            return nil
        }
    }
}
