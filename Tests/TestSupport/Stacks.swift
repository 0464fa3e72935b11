// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints the stacks of this process's threads and of the programs with this name, by gdb, to show where a call hangs.
public func printStacks(besides program: String) {
    let others = (try? ChildProcess.run(["pgrep", "-x", program]).output) ?? ""
    for pid in ["\(getpid())"] + others.split(separator: "\n").map(String.init) {
        let stacks = try? ChildProcess.run(["gdb", "--batch", "-p", pid, "-ex", "thread apply all backtrace 25"])
        print("stacks of process \(pid):\n\(stacks?.output ?? "gdb does not run here")")
    }
}
