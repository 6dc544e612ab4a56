internal import FlowFiles
internal import FlowReview
internal import Foundation
public import Navigation
internal import Support

/// Tests of a flow: scenarios in YAML, as `segue flow run` runs them.
///
///     @Test("The scenarios of the phone") func scenarios() throws {
///         try Scenarios.run(flow: "flows/ios.yaml", scenarios: "flows/scenarios")
///     }
public enum Scenarios {
    /// Runs scenarios, each in a new session.
    /// - Parameters:
    ///   - flow: The path of a flow, in YAML or JSON.
    ///   - scenarios: The path of a scenario, or of a folder: then all YAML files in it are scenarios of this flow.
    /// - Throws: ``ScenarioFailure`` if a scenario fails, a file is invalid or cannot be read, or the folder has no
    ///   scenario.
    public static func run(flow: String, scenarios: String) throws(ScenarioFailure) {
        try run(flow: valid { try Flow(yaml: text(of: flow), file: flow) }, scenarios: scenarios)
    }

    /// Runs scenarios of a flow that is made in Swift.
    /// - Throws: ``ScenarioFailure`` as above.
    public static func run(flow: Flow, scenarios: String) throws(ScenarioFailure) {
        var failures: [String] = []
        for file in try files(at: scenarios) {
            let scenario = try valid { try Scenario(yaml: text(of: file), file: file, flow: flow) }
            let outcomes = scenario.play(on: flow)
            guard outcomes.contains(where: { !$0.failures.isEmpty }) else { continue }
            failures += outcomes.flatMap { $0.lines(in: file) }
        }
        guard failures.isEmpty else { throw ScenarioFailure(lines: failures) }
    }

    /// The path itself, or the YAML files of a folder.
    private static func files(at path: String) throws(ScenarioFailure) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let files = names.filter { $0.ends(with: ".yaml") || $0.ends(with: ".yml") }.sorted().map { "\(path)/\($0)" }
        guard !files.isEmpty else { throw ScenarioFailure(lines: ["\(path): there is no scenario in this folder"]) }
        return files
    }

    private static func text(of path: String) throws(ScenarioFailure) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw ScenarioFailure(lines: [isThere ? "\(path) cannot be read as UTF-8" : "there is no file \(path)"])
        }
    }

    private static func valid<Value>(_ value: () throws -> Value) throws(ScenarioFailure) -> Value {
        do {
            return try value()
        } catch {
            throw (error as? ScenarioFailure) ?? ScenarioFailure(lines: "\(error)".lines.map(String.init))
        }
    }
}

/// Scenarios that failed. The description has the lines that `segue flow run` prints: each step with its changes, up to
/// the one that failed, and `FILE:LINE:COLUMN` with what was expected (`-`) and what was found (`+`).
public struct ScenarioFailure: Error, Hashable, CustomStringConvertible {
    public let lines: [String]

    init(lines: [String]) {
        self.lines = lines.map(\.printable)
    }

    public var description: String { lines.joined(separator: "\n") }
}
