internal import Foundation

/// The damage to a journal between two runs of its broker.
package enum JournalLoss: CaseIterable, Sendable {
    /// The journal was deleted.
    case file
    /// An older copy was put back.
    case olderCopy
    /// The journal was copied without its write-ahead log.
    case log
    /// The log was cut short, as by a loss of power.
    case endOfLog
    /// One bit of the log has changed: SQLite uses only the frames before it.
    case byteOfLog

    /// - Parameter copy: An older copy of the journal.
    func befall(_ journal: String, copy: JournalFiles) throws {
        let log = WriteAheadLog.path(of: journal)
        switch self {
        case .file: JournalFiles.remove(journal)
        case .olderCopy: try copy.write(to: journal)
        case .log: try FileManager.default.removeItem(atPath: log)
        case .endOfLog: try FileHandle(forWritingTo: URL(fileURLWithPath: log)).truncate(atOffset: try place(journal))
        case .byteOfLog:
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: log))
            let place = try place(journal)
            try file.seek(toOffset: place)
            let byte = try file.read(upToCount: 1)?.first ?? 0
            try file.seek(toOffset: place)
            try file.write(contentsOf: Data([byte ^ 0x10]))
        }
    }

    /// The place of the damage in the log.
    private func place(_ journal: String) throws -> UInt64 {
        let log = try WriteAheadLog(of: journal)
        return UInt64(log.offset(ofFrame: log.frames / 4) + 100)
    }
}

/// The valid part of SQLite's write-ahead log (https://sqlite.org/fileformat2.html#walformat).
struct WriteAheadLog {
    /// The number of frames since the log was last restarted. The frames after them are old and already written back.
    let frames: Int
    private let pageSize: Int

    static func path(of journal: String) -> String { journal + "-wal" }

    init(of journal: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.path(of: journal)))
        guard data.count > Self.headerSize else {
            (frames, pageSize) = (0, 0)
            return
        }
        let size = data[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let (salt, starts) = (data[16..<24], stride(from: Self.headerSize, to: data.count - 24 - size, by: 24 + size))
        frames = starts.prefix { data[($0 + 8)..<($0 + 16)].elementsEqual(salt) }.count
        pageSize = size
    }

    private static let headerSize = 32

    func offset(ofFrame frame: Int) -> Int { Self.headerSize + frame * (24 + pageSize) }
}

/// The content of a journal's files: the database, its write-ahead log and the index of the log.
package struct JournalFiles {
    private static let suffixes = ["", "-wal", "-shm"]
    private var contents: [String: Data] = [:]

    package init(at path: String) {
        for suffix in Self.suffixes { contents[suffix] = FileManager.default.contents(atPath: path + suffix) }
    }

    package func write(to path: String) throws {
        Self.remove(path)
        for (suffix, data) in contents { try data.write(to: URL(fileURLWithPath: path + suffix)) }
    }

    package static func remove(_ path: String) {
        for suffix in suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
