import FlowFiles
package import FlowReview
import Foundation
package import Navigation

/// The flows in the project's `config` folder.
package enum ShippedFlows {
    package static func flow(_ platform: String) throws -> Flow {
        try (platform == "mac" ? mac : ios).get()
    }

    /// The scenario of a flow.
    package static func scenario(_ platform: String, for flow: Flow) throws -> Scenario {
        let file = folder.appending(path: "scenarios/\(platform).yaml")
        return try Scenario(yaml: String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent, flow: flow)
    }

    /// The YAML of all flows, including the examples.
    package static func texts() throws -> [String] {
        let files = try [folder, folder.appending(path: "examples")].flatMap {
            try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        return try files.filter { $0.pathExtension == "yaml" }.sorted { $0.path < $1.path }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    // Read only once.
    private static let ios = Result { try read("ios") }
    private static let mac = Result { try read("mac") }

    private static func read(_ platform: String) throws -> Flow {
        try Flow(yaml: text(platform), file: "\(platform).yaml")
    }

    /// The YAML of a flow.
    package static func text(_ platform: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(platform).yaml"), encoding: .utf8)
    }

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "config/flows")
}

extension FlowFinding {
    /// The errors of a flow; empty if it is valid.
    package static func refused(_ make: () throws(FlowError) -> Flow) -> [FlowFinding] {
        do throws(FlowError) {
            _ = try make()
            return []
        } catch {
            return error.findings
        }
    }
}
