/** The parts of ECharts that draw treemaps and graphs: a chunk of their own. */
import { GraphChart, TreemapChart } from "echarts/charts";
import { use } from "echarts/core";

export const addMaps = (): void => use([GraphChart, TreemapChart]);
