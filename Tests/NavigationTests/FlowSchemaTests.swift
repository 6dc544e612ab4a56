import Foundation
import Navigation
import Testing

@Suite("The JSON Schema by which editors complete and check flows")
struct FlowSchemaTests {
    @Test(
        "takes every flow that the project has, read or written",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func shippedFlows() throws {
        let built = try [
            FocusPlayerFlow.ios(), FocusPlayerFlow.mac(), SignUpFlow.built(), GuardFlow.flow(), PlaygroundFlow.flow(),
        ]
        let texts = try FlowFiles.texts() + [SignUpFlow.yaml] + built.map(\.json.description) + built.map(\.yaml)
        #expect(texts.count >= 8)
        for (text, complaints) in try zip(texts, FlowSchema.complaints(about: texts)) {
            #expect(complaints.isEmpty, "\(text)")
        }
    }

    @Test("is named in the first line of each shipped flow")
    func firstLine() throws {
        for text in try FlowFiles.texts() {
            let line = text.prefix { $0 != "\n" }
            #expect(line.hasPrefix("# yaml-language-server: $schema=") && line.hasSuffix("flow.schema.json"))
        }
    }

    @Test(
        "takes what the reader takes",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func good() throws {
        let texts = SchemaExamples.good
        for (text, complaints) in try zip(texts, FlowSchema.complaints(about: texts)) {
            #expect(complaints.isEmpty, "\(text)")
            // Names that there are none of are for the reader alone to find.
            #expect(problems(with: text).allSatisfy { $0.contains("unknown flow") || $0.contains("tab") }, "\(text)")
        }
    }

    @Test(
        "refuses what the reader refuses, and where it is",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func bad() throws {
        let examples = SchemaExamples.bad
        for (example, complaints) in try zip(examples, FlowSchema.complaints(about: examples.map(\.yaml))) {
            #expect(complaints.contains { $0.hasPrefix(example.path) }, "\(example): \(complaints)")
            #expect(!problems(with: example.yaml).isEmpty, "\(example)")
        }
    }

    private func problems(with yaml: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }.map(\.message)
    }
}
