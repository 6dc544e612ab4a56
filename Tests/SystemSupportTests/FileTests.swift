import Foundation
import SystemSupport
import TestSupport
import Testing

/// Runs `body` with a new folder, which is removed afterwards.
func inScratchFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    return try await body(scratch.path)
}

@Suite("File locks")
struct FileLockTests {
    @Test("A lock has one holder, and is free when it is released or its holder has ended")
    func exclusive() async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/lock"
            let first = try #require(try FileLock.acquire(path))
            #expect(try FileLock.acquire(path) == nil)
            first.release()
            var second = try FileLock.acquire(path)
            #expect(second != nil)
            #expect(try FileLock.acquire(path) == nil)
            second = nil
            #expect(try FileLock.acquire(path) != nil)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            withExtendedLifetime(first) {}
        }
    }

    @Test("A folder has its own lock, and a folder that was created again is another one")
    func folder() async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/folder"
            #expect(try FileLock.acquire(folder: path) == nil)
            mkdir(path, 0o700)
            let first = try #require(try FileLock.acquire(folder: path))
            #expect(try FileLock.acquire(folder: path) == nil)
            rmdir(path)
            mkdir(path, 0o700)
            let second = try #require(try FileLock.acquire(folder: path))
            second.release()
            #expect(try FileLock.acquire(folder: path) != nil)
            symlink(path, "\(directory)/link")
            let link = #expect(throws: SystemError.self) { try FileLock.acquire(folder: "\(directory)/link") }
            #expect(link?.code == ENOTDIR)
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("A file that cannot be opened, or is a symbolic link, is refused with the reason")
    func unusable() async throws {
        try await inScratchFolder { directory in
            let missing = #expect(throws: SystemError.self) { try FileLock.acquire("\(directory)/none/lock") }
            #expect(missing?.description == "\(directory)/none/lock: No such file or directory")
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/link", withDestinationPath: "\(directory)/lock")
            let link = #expect(throws: SystemError.self) { try FileLock.acquire("\(directory)/link") }
            #expect(link?.code == ELOOP)
        }
    }
}

@Suite("Atomic replacement of files")
struct AtomicFileTests {
    @Test("The new content replaces the old, with its own mode", arguments: [true, false])
    func replace(isDurable: Bool) async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/file"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            // The temporary file of a writer that was killed.
            try Data("half".utf8).write(to: URL(fileURLWithPath: path + AtomicFile.temporarySuffix))
            try AtomicFile(path).replace(with: Data("new".utf8), isDurable: isDurable)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["file"])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try AtomicFile(path, mode: 0o644).replace(with: Data())
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o644)
        }
    }

    @Test("One of several writers does not disturb the file of another")
    func otherWriters() async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/file"
            let other = "\(path).1\(AtomicFile.temporarySuffix)"
            for part in [other, path + AtomicFile.temporarySuffix] {
                try Data("half".utf8).write(to: URL(fileURLWithPath: part))
            }
            try AtomicFile(path).replace(with: Data("new".utf8), hasOtherWriters: true)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                    == ["file", "file.1.tmp", "file.tmp"])
        }
    }

    @Test("No new content is left when the name cannot be replaced")
    func taken() async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/folder"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let error = #expect(throws: SystemError.self) { try AtomicFile(path).replace(with: Data("new".utf8)) }
            #expect(error?.code == EISDIR)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["folder"])
        }
    }

    @Test("A relative path is in the current folder")
    func relative() async throws {
        let name = "segue-\(UUID().uuidString)"
        defer { unlink(name) }
        try AtomicFile(name).replace(with: Data("new".utf8))
        #expect(try String(contentsOfFile: name, encoding: .utf8) == "new")
    }
}

@Suite("Watching of a folder")
struct DirectoryWatchTests {
    @Test("A wait ends when something is written, and new files are reported")
    func changes() async throws {
        try await inScratchFolder { directory in
            let watch = try DirectoryWatch(path: directory)
            let file = URL(fileURLWithPath: "\(directory)/file")
            try Data("1".utf8).write(to: file)
            #expect(await watch.wait())
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: Data("2".utf8))
            #expect(await !watch.wait())
            let wait = Task { await watch.wait() }
            wait.cancel()
            #expect(await !wait.value)
        }
    }

    @Test("A folder that does not exist is refused with its path")
    func missing() {
        let error = #expect(throws: SystemError.self) { try DirectoryWatch(path: "/tmp/segue-none") }
        #expect(error == SystemError("/tmp/segue-none", code: ENOENT))
    }
}

@Suite("Installed files")
struct InstalledFileTests {
    @Test(
        "Installed files are in share/segue of the prefix, or in the repository",
        arguments: [
            ("/usr/bin", ["/usr/share/segue"]),
            ("/home/ann/segue 0.1/bin", ["/home/ann/segue 0.1/share/segue"]),
            ("/opt/lib/segue", ["/opt/lib/share/segue", "/opt/share/segue"]),
            ("/usr/lib/segue/bin", ["/usr/lib/segue/share/segue", "/usr/share/segue"]),
            (
                "/work/.build/x86_64-unknown-linux-gnu/debug",
                ["/work/.build/x86_64-unknown-linux-gnu/share/segue", "/work"]
            ),
        ])
    func folders(program: String, expected: [String]) {
        #expect(InstalledFiles.folders(ofProgramIn: program) == expected)
    }
}
