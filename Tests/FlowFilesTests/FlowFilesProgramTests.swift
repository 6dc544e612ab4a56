import FlowFiles
import Navigation
import Testing

/// A flow from YAML. The error for an invalid flow names each mistake and its line.
func teaFlow() throws -> Flow {
    let yaml = """
        name: tea
        version: 1
        platform: counter
        start: menu
        screens:
          menu:
          cup:
        transitions:
          - on: event.TeaServed
            do: [{ push: cup }]
        """
    return try Flow(yaml: yaml, file: "tea.yaml")
}

@Suite("Program of the page of FlowFiles")
struct FlowFilesProgramTests {
    @Test("The flow is read, and its YAML reads as the same flow")
    func tea() throws {
        let flow = try teaFlow()
        #expect(flow.name == "tea")
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
    }
}
