internal import Foundation

extension Flow {
    /// Reads a flow's YAML file and checks it.
    ///
    /// - Parameter file: The path of the file.
    /// - Throws: ``FlowError`` with everything that is wrong, each finding with its line.
    public init(file: String) throws(FlowError) {
        let yaml: String
        do {
            yaml = try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw FlowError(findings: [
                FlowFinding(
                    source: file,
                    message: "cannot be read, name a flow such as config/flows/ios.yaml: \(error.localizedDescription)"
                )
            ])
        }
        try self.init(yaml: yaml, file: file)
    }
}
