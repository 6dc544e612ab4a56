import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Private folders and files")
struct PrivateFolderTests {
    /// The id of a user who does not exist.
    private static let strangerID: uid_t = 4_242

    private func inScratch(_ body: (ScratchFolder) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try body(scratch)
    }

    private func mode(of path: String) -> mode_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
    }

    @Test("A folder is created with its parents, for its owner only, and opened again")
    func make() throws {
        try inScratch { scratch in
            #expect(try PrivateFolder.open(scratch.path("a")) == nil)
            try PrivateFolder.make(scratch.path("a/b"))
            #expect([scratch.path("a"), scratch.path("a/b")].map(mode) == [0o700, 0o700])
            #expect(try PrivateFolder.open(scratch.path("a"))?.folder("b") != nil)
            #expect(try PrivateFolder.open(scratch.path("a"))?.folder("c") == nil)
            #expect(try PrivateFolder.claim(scratch.path("c/d")) == nil, "the parent is missing")
            #expect(try PrivateFolder.claim(scratch.path("d")) != nil)
        }
    }

    @Test("A folder that others can enter, a link and a file are refused", arguments: [0o711, 0o750, 0o777, 0o1777])
    func insecure(mode: mode_t) throws {
        try inScratch { scratch in
            try PrivateFolder.make(scratch.path("own"))
            mkdir(scratch.path("open"), 0o700)
            chmod(scratch.path("open"), mode)
            symlink(scratch.path("own"), scratch.path("link"))
            symlink(scratch.path("none"), scratch.path("dangling"))
            try Data().write(to: scratch.url.appending(path: "file"))
            let folder = try #require(try PrivateFolder.open(scratch.path))
            for name in ["open", "link", "dangling", "file"] {
                let path = scratch.path(name)
                for open in [
                    { try PrivateFolder.open(path) }, { try PrivateFolder.make(path) },
                    { try PrivateFolder.claim(path) },
                    { try folder.folder(name) },
                ] as [() throws -> PrivateFolder?] {
                    let error = #expect(throws: PrivateFolderError.self) { _ = try open() }
                    #expect(error?.isInsecure == true && error?.message.contains(path) == true, "\(name)")
                }
            }
        }
    }

    @Test("A folder and a file of another user are refused", .enabled(if: geteuid() == 0))
    func stranger() throws {
        try inScratch { scratch in
            try PrivateFolder.make(scratch.path("theirs"))
            try Data("x".utf8).write(to: scratch.url.appending(path: "file"))
            for name in ["theirs", "file"] { #expect(chown(scratch.path(name), Self.strangerID, Self.strangerID) == 0) }
            #expect(throws: PrivateFolderError.self) { _ = try PrivateFolder.open(scratch.path("theirs")) }
            #expect(try PrivateFolder.open(scratch.path)?.contents(of: "file", limit: 10) == nil)
            #expect(throws: SystemError(scratch.path("file"), code: EPERM)) {
                try PrivateFile.claim(scratch.path("file"))
            }
        }
    }

    @Test("Content is read only from files, without following links, and up to a limit")
    func contents() throws {
        try inScratch { scratch in
            try Data("text".utf8).write(to: scratch.url.appending(path: "file"))
            symlink(scratch.path("file"), scratch.path("link"))
            mkfifo(scratch.path("pipe"), 0o600)
            let folder = try #require(try PrivateFolder.open(scratch.path))
            #expect(folder.contents(of: "file", limit: 4) == Data("text".utf8))
            #expect(folder.contents(of: "file", limit: 3) == nil)
            for name in ["link", "pipe", ".", "none"] {
                #expect(folder.contents(of: name, limit: 10) == nil, "\(name)")
            }
        }
    }

    @Test("A folder is removed with its content, but not with the targets of its links")
    func remove() throws {
        try inScratch { scratch in
            try PrivateFolder.make(scratch.path("victim"))
            try PrivateFolder.make(scratch.path("old/inner"))
            try Data().write(to: scratch.url.appending(path: "victim/file"))
            try Data().write(to: scratch.url.appending(path: "old/inner/file"))
            symlink(scratch.path("victim"), scratch.path("old/link"))
            let folder = try #require(try PrivateFolder.open(scratch.path))
            try folder.remove("old")
            try folder.remove("none")
            #expect(folder.names.sorted() == ["victim"])
            #expect(access(scratch.path("victim/file"), F_OK) == 0)
        }
    }

    @Test("A file is private from its creation on, and an existing one becomes private")
    func files() throws {
        try inScratch { scratch in
            let before = umask(0)
            defer { umask(before) }
            try PrivateFile.claim(scratch.path("new"))
            try Data("kept".utf8).write(to: scratch.url.appending(path: "old"))
            chmod(scratch.path("old"), 0o666)
            try PrivateFile.claim(scratch.path("old"))
            #expect([scratch.path("new"), scratch.path("old")].map(mode) == [0o600, 0o600])
            #expect(try Data(contentsOf: scratch.url.appending(path: "old")) == Data("kept".utf8))
            try PrivateFile.claim(scratch.path("none"), createsFile: false)
            #expect(access(scratch.path("none"), F_OK) != 0)
            symlink(scratch.path("old"), scratch.path("link"))
            #expect(throws: SystemError.self) { try PrivateFile.claim(scratch.path("link")) }
            #expect(throws: SystemError.self) { try PrivateFile.claim(scratch.path) }
        }
    }
}
