import Foundation

/// The flows that drawings and commands are tried with.
enum FlowExamples {
    static let shipped = ["ios", "mac"]

    /// The file of a flow that the project ships with, or of one that is there for its drawing.
    static func path(_ name: String) -> String {
        repository(shipped.contains(name) ? "config/flows/\(name).yaml" : "Tests/FlowDrawings/\(name).yaml")
    }

    static func scenario(_ name: String) -> String { repository("config/flows/scenarios/\(name).yaml") }

    /// A drawing as somebody has looked at it and found it good. To renew it:
    /// `segue flow graph FILE --format FORMAT > Tests/FlowDrawings/NAME.FORMAT`.
    static func drawing(_ name: String, _ format: String) throws -> String {
        try String(contentsOfFile: repository("Tests/FlowDrawings/\(name).\(format)"), encoding: .utf8)
    }

    private static func repository(_ relative: String) -> String {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../\(relative)").standardizedFileURL.path
    }
}
