import Foundation

/// A journal's file, its write-ahead log and the index of that.
struct JournalFiles {
    private static let suffixes = ["", "-wal", "-shm"]
    private var contents: [String: Data] = [:]

    init(at path: String) {
        for suffix in Self.suffixes { contents[suffix] = FileManager.default.contents(atPath: path + suffix) }
    }

    func write(to path: String) throws {
        Self.remove(path)
        for (suffix, data) in contents { try data.write(to: URL(fileURLWithPath: path + suffix)) }
    }

    static func remove(_ path: String) {
        for suffix in suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
