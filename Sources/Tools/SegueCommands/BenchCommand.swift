package import ArgumentParser
internal import Compose
internal import Foundation
internal import Glibc

/// Replaces this process with `segue-bench`.
package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the bus and, for each figure, a baseline.",
        discussion: """
            segue bench                           all benchmarks
            segue bench roundtrip catchup --json  two benchmarks, one JSON object per line

            docs/performance.md describes what each benchmark measures.
            """)

    @Argument(
        help: """
            The benchmarks: roundtrip, publish.journalled, publish.plain, catchup, fanout, coordinator, monitor, \
            start. (default: all)
            """)
    var names: [String] = []

    @Option(help: "The number of rounds. Each round measures a value and its baseline; the medians are printed.")
    var rounds = 5

    @Option(help: "The number of messages in each round. (default: each benchmark has its own)")
    var messages: Int?

    @Option(help: "The failures that an acknowledged message survives: a kill -9, or also a loss of power.")
    var durability = Survival.process

    @Flag(help: "Print one JSON object per line.")
    var json = false

    enum Survival: String, CaseIterable, ExpressibleByArgument {
        case process
        case power
    }

    package init() {}

    package func run() async throws {
        let lookup = ExecutableLookup(executableDirectory: SupervisorOptions.runningExecutableDirectory)
        guard let program = lookup.find("segue-bench", workingDirectory: ".", searchPath: "") else {
            let directory = SupervisorOptions.runningExecutableDirectory ?? "this folder"
            throw CommandError(
                code: "no-executable", "there is no 'segue-bench' in \(directory)",
                recovery: "build it with 'swift build --product segue-bench', or run 'make bench'",
                status: .unavailable)
        }
        var arguments = [program, "measure"] + names + ["--rounds=\(rounds)", "--durability=\(durability.rawValue)"]
        arguments += messages.map { ["--messages=\($0)"] } ?? []
        arguments += json ? ["--json"] : []
        // This thread may block signals, and the new program would inherit its signal mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(program, &pointers)
        throw CommandError(
            code: "no-executable", "\(program) cannot be started: \(String(cString: strerror(errno)))",
            status: .unavailable)
    }
}
