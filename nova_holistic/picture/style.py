# SPDX-License-Identifier: Apache-2.0
"""Colours of all elements except the groups, for light and dark backgrounds.

A renderer without support for media queries draws the light colours. No
character of this text may need escaping in XML: an HTML page contains it as
well.
"""

STYLE = '''
text { font-family: system-ui, 'DejaVu Sans', sans-serif; }
.paper { fill: #ffffff; }
.heading { fill: #0f172a; font-weight: 700; }
.ink, .name { fill: #1e293b; }
.name, .domain-name { font-weight: 600; }
.domain-name { fill: #334155; }
.muted { fill: #566377; }
.box { stroke: #cbd5e1; }
.box0 { fill: #eef2f7; }
.box1 { fill: #f8fafc; }
.plate { fill: #ffffff; }
.edge { fill: none; stroke: #aab6c6; }
.violated { stroke: #dc2626; stroke-width: 2.5; }
.violation { fill: #b91c1c; font-weight: 600; }
.idle .name { fill: #64748b; }
.track { fill: #e2e8f0; }
.before { fill: #a3b1c4; }
.planned { fill: #475569; }
.over { fill: #dc2626; }
.mark { stroke-width: 2; }
.hatched { fill: url(#hatch); }
.hatch-line { fill: #475569; fill-opacity: 0.42; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0b1220; }
  .heading { fill: #f1f5f9; }
  .ink, .name { fill: #e2e8f0; }
  .domain-name { fill: #cbd5e1; }
  .muted { fill: #9aa8bb; }
  .box { stroke: #334155; }
  .box0 { fill: #141d2e; }
  .box1 { fill: #1b263a; }
  .plate { fill: #0f1829; }
  .edge { stroke: #475569; }
  .violated { stroke: #f87171; }
  .violation { fill: #fca5a5; }
  .idle .name { fill: #94a3b8; }
  .track { fill: #263347; }
  .before { fill: #55647a; }
  .planned { fill: #cbd5e1; }
  .hatch-line { fill: #94a3b8; }
}
'''
