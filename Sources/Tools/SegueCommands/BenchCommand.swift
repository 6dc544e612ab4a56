package import ArgumentParser
internal import Compose
internal import Foundation
internal import Glibc

/// Becomes `segue-bench`, so that no other verb carries the benchmarks along.
package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures the bus beside what its work costs without it.",
        discussion: """
            segue bench                           everything
            segue bench roundtrip catchup --json  some of it, one JSON object a line

            docs/performance.md says what each of them measures.
            """)

    @Argument(
        help: """
            roundtrip, publish.journalled, publish.plain, catchup, fanout, coordinator, monitor, start; all of them \
            unless said.
            """)
    var names: [String] = []

    @Option(help: "How often both sides are measured, in turns; the median counts.")
    var rounds = 5

    @Option(help: "Messages of one round; each benchmark has its own number unless said.")
    var messages: Int?

    @Option(help: "What a journalled message survives: a kill -9 of any process, or also a loss of power.")
    var durability = Survival.process

    @Flag(help: "One JSON object a line.")
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
        // This thread may be one that takes no signals; the program would inherit that.
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
