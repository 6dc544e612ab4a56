internal import Foundation

/// Files to be made and to be changed, all of them or none.
package struct Scaffold: Hashable, Sendable {
    /// The contents of each file, by its path from the package's folder.
    package private(set) var files: [String: String] = [:]
    /// Those among the files that are there already.
    package private(set) var changed: Set<String> = []
    /// What is left to do by hand, a line each.
    package private(set) var notes: [String] = []

    init() {}

    mutating func make(_ path: String, _ contents: String) {
        files[path] = contents
    }

    mutating func change(_ path: String, to contents: String) {
        files[path] = contents
        changed.insert(path)
    }

    /// Says something else of a file that is to be made or to be changed.
    mutating func replace(_ path: String, with contents: String) {
        files[path] = contents
    }

    mutating func note(_ text: String) {
        notes.append(text)
    }

    /// - Parameter root: the package's folder.
    /// - Throws: ``ScaffoldError`` when a file that is to be made is there already.
    package func check(in root: String) throws(ScaffoldError) {
        for path in files.keys.sorted() where !changed.contains(path) {
            guard !FileManager.default.fileExists(atPath: "\(root)/\(path)") else {
                throw ScaffoldError("\(path) is there already", recovery: "choose another name, or remove it")
            }
        }
    }

    /// - Parameter root: the package's folder.
    /// - Throws: ``ScaffoldError`` when a file that is to be made is there already; nothing is written then.
    package func write(to root: String) throws {
        try check(in: root)
        for (path, contents) in files {
            let url = URL(fileURLWithPath: "\(root)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try contents.write(to: url, atomically: true, encoding: .utf8)
        }
    }
}

/// Why nothing was written.
package struct ScaffoldError: Error, Hashable, Sendable {
    /// One line: what is wrong, and where.
    package let message: String
    /// What to do about it.
    package let recovery: String

    init(_ message: String, recovery: String) {
        self.message = message
        self.recovery = recovery
    }
}
