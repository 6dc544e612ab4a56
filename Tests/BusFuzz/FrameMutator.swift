import BusProtocol
import EventBus
package import SeededRandom

/// Damages the frames of a message, slightly or severely.
package struct FrameMutator {
    package init() {}

    package func mutate(_ frames: [[UInt8]], _ generator: inout SeededGenerator) -> [[UInt8]] {
        var frames = frames
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            if frames.isEmpty || generator.chance(1, in: 3) {
                mutateList(&frames, &generator)
            } else {
                let index = Int.random(in: 0..<frames.count, using: &generator)
                mutateFrame(&frames[index], &generator)
            }
        }
        return frames
    }

    private func mutateList(_ frames: inout [[UInt8]], _ generator: inout SeededGenerator) {
        let index = frames.isEmpty ? 0 : Int.random(in: 0..<frames.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0 where !frames.isEmpty: frames.remove(at: index)
        case 1 where !frames.isEmpty: frames.append(frames[index])
        case 2 where !frames.isEmpty: frames.swapAt(index, frames.count - 1)
        case 3 where generator.chance(1, in: 200): frames += Array(repeating: [1], count: Limits.filterCount + 8)
        case 4 where generator.chance(1, in: 500): frames.append(Array(repeating: 1, count: Limits.maximumFrameSize))
        case 4: frames = []
        default: frames.insert(noise(&generator), at: index)
        }
    }

    private func mutateFrame(_ frame: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !frame.isEmpty else { return frame = noise(&generator) }
        let index = Int.random(in: 0..<frame.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1: frame[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: frame.removeSubrange(index...)
        case 3: frame += noise(&generator)
        // Extreme lengths and numbers, and bytes that are not UTF-8.
        case 4: frame[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
        case 5:
            let end = min(frame.count, index + Int.random(in: 1...8, using: &generator))
            frame.replaceSubrange(
                index..<end, with: Array(repeating: generator.chance(1, in: 2) ? 0xff : 0, count: end - index))
        case 6: frame.insert(contentsOf: noise(&generator).prefix(8), at: index)
        default: frame = noise(&generator)
        }
    }

    private func noise(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...64, using: &generator)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
