import ArgumentParser
import Benchmarks
import CommandLineSupport
import EventBus
import Foundation
import Logging
import Support
import SystemSupport

@main
struct SegueBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "segue-bench", abstract: "Measures the bus and its processes.",
        discussion: """
            The benchmarks of measure: \(MeasureCommand.names). (default: all)
            """,
        subcommands: [MeasureCommand.self, SessionsCommand.self, PeerCommand.self],
        defaultSubcommand: MeasureCommand.self)

    static func main() async {
        // A write to a closed pipe must not kill this process.
        signal(SIGPIPE, SIG_IGN)
        HelpWidth.ensure()
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: StandardError())
            handler.logLevel = .notice
            return handler
        }
        do {
            try await parseAndRun()
        } catch let error as CocoaError where error.isBrokenPipe {
            Foundation.exit(EXIT_SUCCESS)
        } catch {
            end(with: error)
        }
    }

    /// Exits with an error. An error of the bus, of a benchmark or of the options is printed on one line that begins
    /// with `segue: `.
    private static func end(with error: any Error) -> Never {
        switch error {
        case let error as BusError: fail(error.message, EXIT_FAILURE)
        case let error as BenchmarkError: fail(error.description, EXIT_FAILURE)
        case _ where exitCode(for: error) == .validationFailure:
            fail(message(for: error).onOneLine, ExitCode.validationFailure.rawValue)
        case is ExitCode: exit(printing: error)
        // The parser throws the help as an error, too, and prints it.
        default:
            exitCode(for: error).isSuccess ? exit(printing: error) : fail("\(error)", exitCode(for: error).rawValue)
        }
    }

    private static func fail(_ line: String, _ status: Int32) -> Never {
        StandardError.write(["segue: \(line)"])
        Foundation.exit(status)
    }
}

extension CocoaError {
    fileprivate var isBrokenPipe: Bool {
        (userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EPIPE
            || (userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(EPIPE)
    }
}
