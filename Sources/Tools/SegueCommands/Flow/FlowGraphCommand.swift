internal import ArgumentParser
internal import Compose
internal import FlowDrawing
internal import Navigation
internal import Support

struct FlowGraphCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw a flow: its screens, and the messages that lead from screen to screen.",
        discussion: """
            segue flow graph config/flows/ios.yaml --format mermaid  for Markdown
            segue flow graph config/flows/ios.yaml > ios.svg         needs Graphviz
            segue flow graph config/flows/ios.yaml --format dot | dot -Tpng > ios.png
            segue flow graph --live                                  the flows of a running stack, on its page

            Arrows of commands are solid and blue, arrows of events are dashed and green. A presented screen is \
            filled, with its style in parentheses. A child flow has a frame.

            With --live, the page of the bus opens in a browser, as with 'segue open'. It draws the flows of the bus, with \
            the screens of each session, and the rule that has moved them.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg
        case mermaid
        case dot
    }

    @Argument(help: FlowFile.help)
    var file: String?

    @Option(help: "The format of the drawing. (default: svg)")
    var format: Format?

    @Flag(help: "Show the flows of a running stack on its page.")
    var live = false

    @OptionGroup var bus: BusOptions

    func validate() throws {
        if live, file != nil || format != nil {
            throw ValidationError("--live draws the flows of the bus; it takes neither a file nor --format")
        }
        if !live, file == nil {
            throw ValidationError("name a flow's file, or use --live for the flows of a running stack")
        }
        if !live, bus.isGiven { throw ValidationError("--bus and -p need --live: a file is drawn without a bus") }
    }

    func run() async throws {
        guard let file else {
            return try await RunningPage(of: bus.runningProject()).show("map")
        }
        let drawing = try drawing(of: FlowFile(file).flow())
        let text =
            switch format ?? .svg {
            case .svg: try await svg(drawing.dot)
            case .mermaid: drawing.mermaid
            case .dot: drawing.dot
            }
        try await Console.output.write(text)
    }

    private func drawing(of flow: Flow) throws -> FlowDrawing {
        do {
            return try FlowDrawing(of: flow, within: .file)
        } catch {
            throw CommandError(code: "flow-too-large", "\(error)")
        }
    }

    private func svg(_ dot: String) async throws -> String {
        do {
            return try await Graphviz().svg(dot)
        } catch let error as GraphvizError {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: GraphvizError) -> CommandError {
        let reason: String
        switch error {
        case .notInstalled:
            return CommandError(
                code: "no-graphviz", "Graphviz, which draws the SVG, is not installed: there is no program 'dot'",
                recovery: "install it, for example with 'apt-get install graphviz', or use --format mermaid",
                status: .unavailable)
        case .ended(let status, reason: let line): reason = "\(status.summary): \(line)"
        case .failed(let text), .unreadable(let text): reason = text
        case .tooSlow: reason = error.description
        }
        return CommandError(
            code: "graphviz-failed", "Graphviz could not draw the flow: \(reason)",
            recovery: "'--format dot' prints its input")
    }
}
