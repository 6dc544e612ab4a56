import Foundation

/// The files of one log: `NAME.1.log`, `NAME.2.log` and so on. The newest is written to; the oldest are removed.
///
/// A file keeps its name for as long as it is there. So a reader always knows which file comes next, however often a new
/// one is begun meanwhile, and whether any is missing between.
struct LogFiles: Sendable, Hashable {
    private static let suffix = ".log"

    let directory: String
    let name: String

    func path(_ number: Int) -> String { "\(directory)/\(name).\(number)\(Self.suffix)" }

    /// Of the files that are there, the oldest first.
    var numbers: [Int] {
        Self.list(directory).filter { $0.name == name }.map(\.number).sorted()
    }

    /// The names of all logs in a folder.
    static func names(in directory: String) -> Set<String> {
        Set(list(directory).map(\.name))
    }

    private static func list(_ directory: String) -> [(name: String, number: Int)] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.compactMap { file in
            guard file.hasSuffix(suffix) else { return nil }
            // A name may have dots of its own.
            let stem = file.dropLast(suffix.count)
            guard let dot = stem.lastIndex(of: "."), dot > stem.startIndex,
                let number = Int(stem[stem.index(after: dot)...]), number > 0
            else { return nil }
            return (String(stem[..<dot]), number)
        }
    }
}
