internal import Foundation
internal import Support

/// The files that a command creates, and the steps that are left to the user. No existing file is changed: if one of the
/// files exists already, none is written.
package struct Scaffold: Hashable, Sendable {
    /// The content of each file, by its path relative to the package's folder.
    package private(set) var files: [String: String] = [:]
    package private(set) var steps: [Step] = []

    /// A step that is left to the user.
    package struct Step: Hashable, Sendable {
        /// What to do with the text, such as `Add to flow.yaml, in 'screens'`.
        package let title: String
        /// The lines to add, or the command to run. Nil if there is nothing to add.
        package let text: String?
    }

    init() {}

    /// Adds a new file.
    mutating func make(_ path: String, _ contents: String) {
        files[path] = contents
    }

    mutating func step(_ title: String, _ text: String? = nil) {
        steps.append(Step(title: title, text: text))
    }

    /// Adds a test, if the module has a folder of tests.
    mutating func makeTest(_ name: String, _ contents: String, in package: PackageLayout) {
        if package.exists(package.tests) {
            make("\(package.tests)/\(name).swift", contents)
        } else {
            step("No test was written: there is no folder \(package.tests)")
        }
    }

    func hasTest(_ name: String, in package: PackageLayout) -> Bool {
        let path = "\(package.tests)/\(name).swift"
        return files[path] != nil || package.exists(path)
    }

    /// Adds the step that creates a message, unless it is one of Segue's own or has a file.
    mutating func stepToDeclare(_ shape: MessageShape, in package: PackageLayout) {
        guard !shape.message.isOfPlatform, !package.exists(package.path(of: shape.message)) else { return }
        step("Unless \(shape.message.type) is declared, run", shape.command)
    }

    /// - Parameter root: the package's folder.
    /// - Throws: ``ScaffoldError`` if a new file exists already.
    package func check(in root: String) throws(ScaffoldError) {
        for path in files.keys.sorted() {
            guard !FileManager.default.fileExists(atPath: "\(root)/\(path)") else {
                throw ScaffoldError(
                    .package, "\(path) exists already", recovery: "choose another name, or remove the file")
            }
        }
    }

    /// - Parameter root: the path of a folder that does not exist, or is empty.
    /// - Throws: ``ScaffoldError`` if the folder has contents, or a file has its path.
    package func check(inNewFolder root: String) throws(ScaffoldError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: root, isDirectory: &isFolder) else { return }
        let contents = try? FileManager.default.contentsOfDirectory(atPath: root)
        guard isFolder.boolValue, contents?.isEmpty == true else {
            throw ScaffoldError(
                .package, "\(root) exists already and is not an empty folder",
                recovery: "choose another name, or remove it")
        }
    }

    /// Writes the files in a new or empty folder. If an error is thrown, nothing is left of them.
    /// - Throws: ``ScaffoldError`` if the folder has contents, or a file has its path. `CocoaError` if a file cannot be
    ///   written.
    package func write(toNewFolder root: String) throws {
        try check(inNewFolder: root)
        let existed = FileManager.default.fileExists(atPath: root)
        do {
            try write(to: root)
        } catch {
            let written = Set(files.keys.compactMap { $0.split(scalar: "/").first })
            for name in written { try? FileManager.default.removeItem(atPath: "\(root)/\(name)") }
            // Unlike `removeItem`, this removes only an empty folder.
            if !existed { rmdir(root) }
            throw error
        }
    }

    /// - Parameter root: the package's folder.
    /// - Throws: ``ScaffoldError`` if a new file exists already; then nothing is written. `CocoaError` if a file cannot
    ///   be written; other files may have been written before.
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

/// An error in the arguments of `segue new` or in the package. Nothing was written.
package struct ScaffoldError: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// An argument is invalid in every package.
        case argument
        /// A file does not exist or cannot be read.
        case file
        /// The content of the package does not allow the change, such as a name that exists already.
        case package
    }

    package let cause: Cause
    /// One line: what is wrong, and where.
    package let message: String
    /// The suggested remedy.
    package let recovery: String

    init(_ cause: Cause, _ message: String, recovery: String) {
        self.cause = cause
        self.message = message
        self.recovery = recovery
    }
}
