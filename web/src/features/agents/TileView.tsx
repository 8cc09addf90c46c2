import { AgentTile } from "./AgentTile";
import { ThreadTile } from "./ThreadTile";
import type { Tile } from "./tiles";

export function TileView({ tile }: { tile: Tile }) {
  return tile.kind === "agent" ? <AgentTile agent={tile.agent} /> : <ThreadTile thread={tile.thread} />;
}
