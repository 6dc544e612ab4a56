import CommandLineTestSupport
import FlowFiles
import Foundation
import FoundationXML
import Navigation
import Testing

@Suite("segue flow graph")
struct FlowGraphVerbTests {
    @Test(
        "draws a flow alike each time", arguments: FlowExamples.shipped + ["shop"], ["dot", "mermaid"])
    func golden(name: String, format: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue("flow", "graph", FlowExamples.path(name), "--format", format)
            #expect(result.status == 0)
            #expect(result.output == (try FlowExamples.drawing(name, format)))
        }
    }

    @Test("draws an SVG with the names of all screens", arguments: FlowExamples.shipped + ["shop"])
    func svg(name: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let path = FlowExamples.path(name)
            let result = try await segue("flow", "graph", path)
            try #require(result.status == 0, "\(result.error)")
            let texts = try SVGTexts(result.output).texts
            let flow = try Flow(yaml: String(contentsOfFile: path, encoding: .utf8), file: path)
            for screen in flow.screens.values {
                #expect(texts.contains(screen.name))
                if let title = screen.title { #expect(texts.contains(title)) }
            }
        }
    }

    @Test("says what to install when Graphviz is not there")
    func noGraphviz() async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            segue.environment["PATH"] = segue.directory
            let result = try await segue("flow", "graph", FlowExamples.path("ios"))
            #expect(result.status == 69 && result.output.isEmpty)
            #expect(result.errorLines.count == 1 && result.error.contains("install the package graphviz"))
            #expect(try await segue("flow", "graph", FlowExamples.path("ios"), "--format", "dot").status == 0)
        }
    }
}

/// The texts of an SVG, if it is well-formed.
private final class SVGTexts: NSObject, XMLParserDelegate {
    private(set) var texts: Set<String> = []
    private var text = ""

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        try #require(parser.parse(), "\(parser.parserError.debugDescription)")
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        if name == "text" { texts.insert(text.replacing("\u{A0}", with: " ")) }
    }
}
