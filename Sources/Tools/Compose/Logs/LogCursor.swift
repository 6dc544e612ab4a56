import Foundation

/// Reads the files of one log line by line, and goes on with those that are begun later.
struct LogCursor {
    /// Where to begin, and what to leave out.
    struct Selection {
        /// How many of the lines that are there to begin with; `nil` is all.
        var last: Int?
        var since: [UInt8]?
        var until: [UInt8]?
    }

    let files: LogFiles
    private let selection: Selection
    /// Those that are open: the first is being read, the last is the newest there was.
    private var open: [LogFile] = []
    private var buffer: [UInt8] = []
    /// Where the part of the buffer that was not returned begins.
    private var start = 0
    /// Whether files were removed before they could be opened.
    private var hasGap = false

    init(_ files: LogFiles, _ selection: Selection) {
        self.files = files
        self.selection = selection
        // One that is removed just now is too old to be missed.
        open = files.numbers.compactMap { LogFile(files, number: $0) }
        if let last = selection.last { skip(toLast: last) }
    }

    /// - Returns: `nil` when there is nothing more for now.
    mutating func next() -> LogLine? {
        while true {
            if let line = takeLine() { return line }
            openFollowing()
            guard let file = open.first else { return nil }
            let bytes = file.read()
            if !bytes.isEmpty {
                buffer = Array(buffer[start...]) + bytes
                start = 0
            } else if open.count > 1 {
                // The next one was there before this one's end was found: nothing is written here any more.
                leaveFile()
            } else {
                return nil
            }
        }
    }

    private mutating func takeLine() -> LogLine? {
        while let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let record = buffer[start..<end]
            start = end + 1
            if fits(record) { return LogRecord.line(record, of: files.name) }
        }
        return nil
    }

    private func fits(_ record: ArraySlice<UInt8>) -> Bool {
        guard !record.isEmpty else { return false }
        guard let time = LogRecord.time(of: record) else { return selection.since == nil && selection.until == nil }
        if let since = selection.since, time.lexicographicallyPrecedes(since) { return false }
        if let until = selection.until, until.lexicographicallyPrecedes(time) { return false }
        return true
    }

    /// Opens the files that were begun after the newest that is open: from then on nobody can take them away.
    private mutating func openFollowing() {
        guard let newest = open.last else {
            open = files.numbers.compactMap { LogFile(files, number: $0) }
            return
        }
        if let next = LogFile(files, number: newest.number + 1) {
            open.append(next)
        } else if newest.isRemoved, let number = files.numbers.first(where: { $0 > newest.number }),
            let next = LogFile(files, number: number)
        {
            hasGap = true
            open.append(next)
        }
    }

    private mutating func leaveFile() {
        buffer = Array(buffer[start...])
        start = 0
        // A writer that was killed may have left half a record.
        if !buffer.isEmpty { buffer.append(UInt8(ascii: "\n")) }
        open.removeFirst()
        guard hasGap, open.count == 1 else { return }
        hasGap = false
        let text = "lines were removed before they could be read here"
        buffer += LogRecord.bytes(
            time: LogRecord.time(Date()), stream: .notice, text: Array(text.utf8), continues: false)
    }

    private mutating func skip(toLast count: Int) {
        var missing = count
        var wanted: [LogFile] = []
        for file in open.reversed() where missing > 0 || wanted.isEmpty {
            missing -= file.seek(toLast: missing, until: selection.until)
            wanted.insert(file, at: 0)
        }
        if count == 0 { wanted.first?.seekToEnd() }
        open = wanted
    }
}
