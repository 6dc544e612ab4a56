extension Flow {
    /// Reads a flow from YAML and checks it.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    /// - Throws: ``FlowError`` with everything that is wrong, each finding with its line and column.
    public init(yaml: String, file: String) throws(FlowError) {
        let reading = FlowReading(yaml: yaml, file: file)
        guard let flow = reading.flow, reading.findings.isEmpty else { throw FlowError(findings: reading.findings) }
        self = flow
    }
}
