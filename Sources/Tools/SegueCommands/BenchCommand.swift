package import ArgumentParser
internal import Compose
internal import Foundation
internal import Glibc
internal import SystemSupport

/// Replaces this process with `segue-bench`.
package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the bus and, for each figure, a baseline.",
        discussion: """
            segue bench                           all benchmarks of the bus
            segue bench roundtrip catchup --json  two benchmarks, one JSON object per line
            segue bench sessions --count 100000   coordinators that share many sessions

            docs/performance.md describes what is measured; segue bench --help and segue bench sessions --help list \
            the options.
            """)

    @Argument(parsing: .captureForPassthrough, help: "The names of benchmarks, and options of segue-bench.")
    var arguments: [String] = []

    package init() {}

    package func run() async throws {
        let lookup = ExecutableLookup(executableDirectory: InstalledFiles.programFolder)
        guard let program = lookup.find("segue-bench", workingDirectory: ".", searchPath: "") else {
            let directory = InstalledFiles.programFolder ?? "this folder"
            throw CommandError(
                code: "no-executable", "there is no 'segue-bench' in \(directory)",
                recovery: "in a copy of Segue's repository, run 'make bench'",
                status: .unavailable)
        }
        // This thread may block signals, and the new program would inherit its signal mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &pointers)
        throw CommandError(
            code: "no-executable", "\(program) cannot be started: \(String(cString: strerror(errno)))",
            status: .unavailable)
    }
}
