import Foundation

/// What may become of a journal between two runs of its broker.
enum JournalLoss: CaseIterable {
    /// Somebody has deleted it.
    case file
    /// It was copied without its write-ahead log.
    case log
    /// The log was cut short, as by a loss of power.
    case endOfLog
    /// One byte of the log has flipped: SQLite takes what stands before it.
    case byteOfLog

    func befall(_ journal: String) throws {
        let log = WriteAheadLog.path(of: journal)
        switch self {
        case .file: JournalFiles.remove(journal)
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

    /// What is behind it is more than anybody has seen since the last hello.
    private func place(_ journal: String) throws -> UInt64 {
        let log = try WriteAheadLog(of: journal)
        return UInt64(log.offset(ofFrame: log.frames / 4) + 100)
    }
}
