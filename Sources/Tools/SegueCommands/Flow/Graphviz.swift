internal import Compose
internal import Subprocess

/// The program that lays out drawings.
enum Graphviz {
    /// A drawing that is larger than this is one that nobody can read.
    private static let limit = 64 << 20

    /// - Parameter dot: a drawing in its language.
    /// - Throws: ``CommandError`` when it is not installed, or cannot draw that.
    static func svg(_ dot: String) async throws -> String {
        do {
            let result = try await Subprocess.run(
                .name("dot"), arguments: ["-Tsvg"], input: .string(dot), output: .string(limit: limit),
                error: .string(limit: 1 << 20))
            if result.terminationStatus.isSuccess { return result.standardOutput }
            throw failure("\(result.terminationStatus.summary): \(result.standardError.prefix { $0 != "\n" })")
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw CommandError(
                code: "no-graphviz", "an SVG is drawn by Graphviz, and its program 'dot' is not there",
                recovery: "install the package graphviz, as with 'apt-get install graphviz', or use --format mermaid",
                status: .unavailable)
        } catch let error as SubprocessError {
            throw failure("\(error)")
        }
    }

    private static func failure(_ reason: String) -> CommandError {
        CommandError(
            code: "graphviz-failed", "Graphviz could not draw the flow: \(reason)",
            recovery: "see with --format dot what it was given")
    }
}
