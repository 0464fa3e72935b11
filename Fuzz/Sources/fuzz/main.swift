// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes to standard error. Swift 6 does not allow reading the variable `stderr`.
func complain(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) } }

// fuzz TARGET [libFuzzer's arguments]      fuzz -seeds DIRECTORY      fuzz -list
let arguments = CommandLine.arguments
let targetVariable = "EARSHOT_FUZZ_TARGET"
makeOpenSSLPredictable()
switch arguments.dropFirst().first {
case "-list":
    for target in Target.allCases { print(target.rawValue) }
case "-seeds" where arguments.count == 3:
    for target in Target.allCases {
        guard writeSeeds(of: target, below: arguments[2]) else {
            complain("fuzz: cannot write below \(arguments[2])\n")
            exit(1)
        }
    }
case let option? where option.hasPrefix("-") && getenv(targetVariable) != nil:
    // libFuzzer starts this program again to merge, with only its own arguments.
    guard let name = getenv(targetVariable), let target = Target(rawValue: String(cString: name)) else { exit(64) }
    runFuzzer(target, arguments: arguments)
case let name?:
    guard let target = Target(rawValue: name) else {
        complain("fuzz: no target '\(name)'; see fuzz -list\n")
        exit(64)
    }
    setenv(targetVariable, name, 1)
    runFuzzer(target, arguments: [arguments[0]] + arguments.dropFirst(2))
case nil:
    complain("usage: fuzz TARGET [libFuzzer's arguments] | -seeds DIRECTORY | -list\n")
    exit(64)
}
