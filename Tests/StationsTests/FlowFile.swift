import FlowFiles
import Foundation
import Navigation

/// The example flows, read from where users read them.
enum FlowFile {
    static func flow(_ name: String) throws -> Flow {
        try Flow(yaml: text("config/flows/examples/\(name).yaml"), file: "\(name).yaml")
    }

    /// A file of this repository.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
