import Foundation

/// What one detached supervisor has to say of itself, in a file that those before it have written to.
struct SupervisorLog {
    private let path: String
    private let start: UInt64

    /// Before the supervisor is started.
    init(path: String) {
        self.path = path
        start = (try? FileHandle(forReadingAtPath: path)?.seekToEnd()) ?? 0
    }

    /// The last lines, cut to a width that an error can show.
    var tail: [String] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        try? file.seek(toOffset: start)
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(20).map { String($0.prefix(500)) }
    }
}
