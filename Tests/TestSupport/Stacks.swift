// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints where the threads of this process, and of the programs of a name, are: by gdb, for a call that does not come back.
public func printStacks(besides program: String) {
    let others = (try? ChildProcess.run(["pgrep", "-x", program]).output) ?? ""
    for pid in ["\(getpid())"] + others.split(separator: "\n").map(String.init) {
        let stacks = try? ChildProcess.run(["gdb", "--batch", "-p", pid, "-ex", "thread apply all backtrace 25"])
        print("stacks of process \(pid):\n\(stacks?.output ?? "gdb does not run here")")
    }
}
