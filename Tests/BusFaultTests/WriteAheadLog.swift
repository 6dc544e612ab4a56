import Foundation

/// How much of SQLite's write-ahead log counts (https://sqlite.org/fileformat2.html#walformat).
struct WriteAheadLog {
    /// Those of the current round: behind them stand those of rounds that have been written back.
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
