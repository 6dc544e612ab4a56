internal import ArgumentParser
internal import Compose
internal import Navigation
internal import Subprocess

struct FlowGraphCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draws a flow: its screens, and the messages that lead from one to another.",
        discussion: """
            segue flow graph config/flows/ios.yaml > ios.svg            drawn by Graphviz
            segue flow graph config/flows/ios.yaml --format mermaid     for documents
            segue flow graph config/flows/ios.yaml --format dot | dot -Tpng > ios.png

            Commands are solid and blue, events dashed and green. What is presented
            is filled, with its style in brackets; child flows have a frame.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg
        case mermaid
        case dot
    }

    @Argument(help: FlowFile.help)
    var file: String

    @Option(help: "What to write.")
    var format = Format.svg

    func run() async throws {
        let drawing = FlowDrawing(of: try FlowFile(file).flow())
        let text =
            switch format {
            case .svg: try await Graphviz.svg(drawing.dot)
            case .mermaid: drawing.mermaid
            case .dot: drawing.dot
            }
        try await Console.output.write(text)
    }
}

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
