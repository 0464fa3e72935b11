// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine

extension ErrorDocument {
    /// Creates the document of the reason that an effect cannot be made or changed.
    init(_ error: AudioEngineError) {
        switch error {
        case .noUnit(let name, let near):
            self.init(
                code: "no-effect", text: "There is no effect '\(Self.start(of: name))'\(Self.list("similar", near))")
        case .noParameter(let unit, let name, let near):
            self.init(
                code: "no-parameter",
                text: "\(unit) has no parameter '\(Self.start(of: name))'\(Self.list("similar", near))")
        case .noPreset(let unit, let name, let presets):
            self.init(
                code: "no-preset",
                text: "\(unit) has no preset '\(Self.start(of: name))'\(Self.list("presets", presets))")
        case .wrongSetting(let unit, let parameter?, let text):
            self.init(
                code: "wrong-value",
                text: "\(unit): \(parameter.identifier) must be \(parameter.allowedValues), "
                    + "not '\(Self.start(of: text))'")
        case .wrongSetting(let unit, nil, let text):
            self.init(code: "wrong-value", text: "\(unit): '\(Self.start(of: text))' is not parameter=value")
        case .unitFailed(let unit, let reason):
            self.init(code: "effect-failed", text: "\(Self.start(of: unit)) cannot run: \(reason)")
        default: self.init(code: "effect-failed", text: "The effects cannot run: \(error)")
        }
    }

    /// Returns the beginning of a client's text, which may be long.
    private static func start(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80)))
    }

    private static func list(_ word: String, _ names: [String]) -> String {
        names.isEmpty ? "" : " (\(word): \(names.joined(separator: ", ")))"
    }
}
