internal import EventBus
internal import Foundation
internal import Support

/// The file with the logs of all processes and the messages of a failed test. It is in the temporary directory, and is
/// kept.
enum FailureFile {
    /// The maximum size of the part of one log, or of the messages, in bytes.
    private static let partSize = 1 << 20

    /// - Parameter logs: The names and the lines of the logs.
    /// - Returns: The path of the file, or the reason why it was not written.
    static func write(_ logs: [(name: String, lines: [String])], messages: [Envelope]) -> String {
        let transcript = messages.map { message in
            let attributes = message.attributes
            return "\(message.position?.offset ?? 0) \(message.type) \(attributes.source) \(message.subject)"
                + " \(attributes.platform ?? "-") \(String(decoding: message.data, as: UTF8.self))"
        }
        let text = (logs + [("the bus", transcript)]).map { part($0.name, $0.lines) }.joined(separator: "\n")
        let name = "segue-test-\(UUID().uuidString.prefix(8).lowercased()).log"
        let file = FileManager.default.temporaryDirectory.appending(path: name)
        let isWritten = FileManager.default.createFile(
            atPath: file.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        return isWritten ? file.path : "\(file.path) could not be written"
    }

    /// The last lines of a log, as many as fit.
    private static func part(_ name: String, _ lines: [String]) -> String {
        var size = 0
        let kept = lines.reversed().prefix {
            size += $0.utf8.count + 1
            return size <= partSize
        }
        let left = lines.count - kept.count
        return (["== \(name)"] + (left > 0 ? ["(\(left) earlier lines)"] : []) + kept.reversed().map(\.printable))
            .map { $0 + "\n" }.joined()
    }
}
