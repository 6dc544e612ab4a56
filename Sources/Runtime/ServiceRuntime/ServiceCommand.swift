internal import ArgumentParser

/// An executable that consists of one service. It has the options of every service, and no others:
///
///     @main
///     struct Brewer: ServiceCommand {
///         static let service = ServiceProgram(brewer)
///     }
///
/// A program with options of its own is an `AsyncParsableCommand` that calls ``ServiceProgram/run(_:bus:)``.
public protocol ServiceCommand {
    static var service: ServiceProgram { get }
    /// A sentence about the service, for `--help`. Empty by default.
    static var abstract: String { get }
    /// The paragraphs after the options in `--help`, for example about environment variables. Empty by default.
    static var discussion: String { get }
}

extension ServiceCommand {
    public static var abstract: String { "" }
    public static var discussion: String { "" }

    // Without `@concurrent`, the compiler does not accept the function as the `main` of another module.
    @concurrent public static func main() async { await ServiceCommandLine<Self>.runProgram() }
}

/// The command line of a ``ServiceCommand``.
private struct ServiceCommandLine<Command: ServiceCommand>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Command.service.process.name, abstract: Command.abstract, discussion: Command.discussion)
    }

    @OptionGroup var options: ServiceOptions

    func run() async throws { try await Command.service.run(options) }
}
