package import ArgumentParser
internal import Navigation

package struct FlowGraphCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
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

    package init() {}

    package func run() async throws {
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
