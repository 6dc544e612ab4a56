internal import FlowFiles
internal import Foundation
public import Navigation

extension ServiceProcess {
    /// Reads the flow that a process is started with.
    /// - Parameter file: the path of a YAML file.
    /// - Throws: the status to end with, when the flow cannot be used; what is wrong is on standard error by then.
    public static func readFlow(_ file: String) throws -> Flow {
        let yaml: String
        do {
            yaml = try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            let advice = "name a flow such as config/flows/ios.yaml"
            throw refuse(["\(file): cannot be read, \(advice): \(error.localizedDescription)"])
        }
        do {
            return try Flow(yaml: yaml, file: file)
        } catch {
            throw refuse(error.findings.map(\.description))
        }
    }
}
